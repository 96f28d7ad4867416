"""The local stack: Neo4j, Redis, the API, a worker and beat, kept alive by supervisord.

supervisord restarts what dies and logs it. This module writes its configuration, waits until all
is ready, and sees to it that nothing is left when the stack goes down.
"""

import http.client
import json
import os
import secrets
import shlex
import subprocess
import sys
import time
import xmlrpc.client
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil

from engine.settings import Settings
from engine.store import set_first_password
from ops.local_neo4j import Neo4jPlace, command, find_redis
from ops.ports import free_port

MARK = "PENTIMENTO_STACK"  # in the environment of every process of a stack: whose it is
START_SECONDS = 120.0
STOP_SECONDS = 40.0
RPC_SECONDS = 5.0

PROGRAM = """
[program:{name}]
command={command}
priority={priority}
autostart={autostart}
autorestart=true
startsecs=1
startretries=1000000
stopwaitsecs={patience}
stopasgroup={as_group}
killasgroup=true
stdout_logfile=NONE
stderr_logfile=NONE
"""

# Processes write their logs themselves: a pipe to a supervisord that hangs would fill up, and
# whoever wrote a line into it would hang as well.
LOGGED = ["/bin/sh", "-c", 'exec "$@" >>"$0" 2>&1']
LARGEST_LOG = 20 * 1024 * 1024  # bytes; a larger one is put aside at the next start

SUPERVISOR = """\
; Written by `pentimento up`; changes here are lost at the next start.
[supervisord]
nodaemon=true
silent=true
logfile={run}/supervisord.log
logfile_maxbytes=5MB
pidfile={run}/supervisord.pid
childlogdir={run}

[inet_http_server]
port=127.0.0.1:{port}
username=pentimento
password={password}

[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
"""

REDIS = """\
port {port}
bind 127.0.0.1
dir {data}
requirepass {password}
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
"""


Programs = dict[str, list[str]]  # the command of each process, in the order they start


class StackFailed(Exception):
    """The stack did not come up; the text says what to look at."""


@dataclass(frozen=True)
class Stack:
    """A running stack, as `run/stack.json` remembers it."""

    api_url: str
    neo4j_uri: str
    neo4j_user: str
    neo4j_password: str
    browser_url: str | None
    redis_url: str
    supervisor_url: str
    api_key: str | None = None
    settings: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """The settings that make a process part of this stack."""
        return {
            **self.settings,
            "PENTIMENTO_NEO4J_URI": self.neo4j_uri,
            "PENTIMENTO_NEO4J_USER": self.neo4j_user,
            "PENTIMENTO_NEO4J_PASSWORD": self.neo4j_password,
            "PENTIMENTO_REDIS_URL": self.redis_url,
            "PENTIMENTO_API_PORT": self.api_url.rpartition(":")[2],
        }

    def inside(self, settings: Settings) -> Settings:
        """These settings, as a process of this stack would have them."""
        own = {key.removeprefix("PENTIMENTO_").lower(): v for key, v in self.environment().items()}
        return settings.model_validate({**settings.model_dump(), **own})


class Impatient(xmlrpc.client.Transport):
    """Does not wait for ever for a supervisord that hangs."""

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        connection = super().make_connection(host)
        connection.timeout = RPC_SECONDS
        return connection


class Home:
    """The folder of one stack."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.run = self.folder / "run"
        self.logs = self.folder / "logs"
        self.data = self.folder / "data"
        self.password_is_set = self.data / "neo4j" / "password-is-set"

    def running(self) -> Stack | None:
        """The stack that runs here, if one does."""
        stack = self.remembered()
        if stack is None:
            return None
        try:
            self.supervisor(stack).getPID()
        except (OSError, xmlrpc.client.Error):
            return None
        return stack

    def remembered(self) -> Stack | None:
        try:
            return Stack(**json.loads((self.run / "stack.json").read_text()))
        except (OSError, ValueError, TypeError):
            return None

    def remember(self, stack: Stack) -> None:
        write_private(self.run / "stack.json", json.dumps(asdict(stack), indent=2))

    def supervisor(self, stack: Stack) -> Any:
        return xmlrpc.client.ServerProxy(stack.supervisor_url, transport=Impatient()).supervisor

    def processes(self, stack: Stack) -> list[dict[str, Any]]:
        """What supervisord knows of each process."""
        return [
            {
                "name": info["name"],
                "state": info["statename"].lower(),
                "pid": info["pid"] or None,
                "up_seconds": max(0, info["now"] - info["start"]) if info["pid"] else 0,
                "log": str(self.log(info["name"])),
            }
            for info in self.supervisor(stack).getAllProcessInfo()
        ]

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def pid(self, stack: Stack, name: str) -> int | None:
        return next((p["pid"] for p in self.processes(stack) if p["name"] == name), None)

    def secrets(self) -> dict[str, str]:
        file = self.folder / "secrets.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def keep_secret(self, name: str, value: str) -> str:
        """Keep a secret of this stack in a file that only its owner can read."""
        known = {**self.secrets(), name: value}
        write_private(self.folder / "secrets.json", json.dumps(known, indent=2))
        return value

    def secret(self, name: str) -> str:
        """A secret of this stack, made up when it is first asked for."""
        return self.secrets().get(name) or self.keep_secret(name, secrets.token_urlsafe(24))

    def port(self, name: str, preferred: int) -> int:
        """The port this stack had before, or the preferred one, unless somebody else has it."""
        file = self.folder / "ports.json"
        known: dict[str, int] = json.loads(file.read_text()) if file.exists() else {}
        known[name] = free_port(known.get(name, preferred), owner=str(self.folder.resolve()))
        file.write_text(json.dumps(known, indent=2))
        return known[name]

    def members(self) -> list[psutil.Process]:
        """Every process of this stack, also those whose parent died."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if self.owns(process):
                    found.append(process)
        return found

    def owns(self, process: psutil.Process) -> bool:
        if process.name().startswith("redis-server"):
            # It writes its title over its environment; but it lives where its data is.
            return process.cwd() == str(self.data / "redis")
        return process.environ().get(MARK) == str(self.folder)


def start(home: Home, settings: Settings, say: Callable[[str], None]) -> Stack:
    """Start every process and wait until Neo4j can be used. The caller waits for the rest."""
    stop(home)  # what an earlier stack left behind after a crash
    for folder in (home.run, home.logs, home.data / "redis", home.data / "beat"):
        folder.mkdir(parents=True, exist_ok=True)
    for log in home.logs.glob("*.log"):
        if log.stat().st_size > LARGEST_LOG:
            log.rename(log.with_suffix(".log.1"))

    programs: Programs = {}
    neo4j_uri, neo4j_password, browser_url = plan_neo4j(home, settings, programs)
    redis_url = plan_redis(home, settings, programs)
    api_port = plan_doors(home, settings, programs)
    port, password = free_port(), secrets.token_urlsafe(16)
    stack = Stack(
        api_url=f"http://127.0.0.1:{api_port}",
        neo4j_uri=neo4j_uri,
        neo4j_user=settings.neo4j_user,
        neo4j_password=neo4j_password,
        browser_url=browser_url,
        redis_url=redis_url,
        supervisor_url=f"http://pentimento:{password}@127.0.0.1:{port}/RPC2",
        settings={
            **{key: value for key, value in os.environ.items() if key.startswith("PENTIMENTO_")},
            "PENTIMENTO_HOME": str(home.folder),
        },
    )
    # On a new Neo4j, processes that tried the password before it is set would get it locked.
    new = "neo4j" in programs and not home.password_is_set.exists()
    later = set(programs) - {"neo4j", "redis"} if new else set()
    write_private(
        home.run / "supervisord.conf",
        SUPERVISOR.format(run=home.run, port=port, password=password)
        + as_sections(home, settings, programs, later),
    )
    home.remember(stack)
    supervisord = launch(home, stack)
    if "neo4j" in programs:
        say("Starting Neo4j ...")
        wait_for_neo4j(home, stack, supervisord)
    for name in later:
        home.supervisor(stack).startProcess(name, False)
    return stack


def plan_neo4j(home: Home, settings: Settings, programs: Programs) -> tuple[str, str, str | None]:
    """The graph's address, password and Browser: a given one's, or one of our own."""
    if settings.neo4j_uri is not None:
        return settings.neo4j_uri, settings.neo4j_password.get_secret_value(), None
    place = Neo4jPlace(
        home.data / "neo4j",
        home.port("bolt", 7687),
        home.port("browser", 7474),
        settings.neo4j_heap,
        settings.neo4j_page_cache,
    )
    programs["neo4j"] = command(home.folder, place)
    return place.uri, home.secret("neo4j_password"), place.browser_url


def plan_redis(home: Home, settings: Settings, programs: Programs) -> str:
    if settings.redis_url is not None:
        return settings.redis_url
    port, password = home.port("redis", 6399), home.secret("redis_password")
    configuration = REDIS.format(port=port, data=home.data / "redis", password=password)
    write_private(home.run / "redis.conf", configuration)
    programs["redis"] = [find_redis(), str(home.run / "redis.conf")]
    return f"redis://:{password}@127.0.0.1:{port}/0"


def plan_doors(home: Home, settings: Settings, programs: Programs) -> int:
    celery = [sys.executable, "-m", "celery", "-A", "tasks.app"]
    programs["api"] = [sys.executable, "-m", "api"]
    programs["worker"] = [
        *celery, "worker", "--without-mingle", "--without-gossip",
        "--hostname=worker@%h", f"--concurrency={settings.worker_processes}",
    ]  # fmt: skip
    programs["beat"] = [
        *celery, "beat", f"--schedule={home.data / 'beat' / 'schedule'}", "--pidfile=",
    ]  # fmt: skip
    return home.port("api", settings.api_port)


def as_sections(home: Home, settings: Settings, programs: Programs, later: set[str]) -> str:
    """The programs as supervisord reads them."""
    return "".join(
        PROGRAM.format(
            name=name,
            command=shlex.join([*LOGGED, str(home.log(name)), *line]).replace("%", "%%"),
            # The last to start is the first to stop: the doors close before the store does.
            priority=place,
            autostart=str(name not in later).lower(),
            patience=30 if name == "neo4j" else settings.shutdown_seconds + 2,
            # Celery stops its own children, and loses jobs when they are told to stop as well.
            as_group=str(name != "worker").lower(),
        )
        for place, (name, line) in enumerate(programs.items(), start=1)
    )


def launch(home: Home, stack: Stack) -> "subprocess.Popen[bytes]":
    with (home.run / "supervisord.out").open("wb") as output:
        supervisord = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "supervisor.supervisord", "-c", home.run / "supervisord.conf"],
            env={**os.environ, **stack.environment(), MARK: str(home.folder)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches `pentimento up`, which stops things in order
        )
    wait_for(lambda: home.running() is not None, 20, home, "supervisord", supervisord)
    return supervisord


def wait_for_neo4j(home: Home, stack: Stack, supervisord: "subprocess.Popen[bytes]") -> None:
    seen: set[int] = set()

    def usable() -> bool:
        if pid := home.pid(stack, "neo4j"):
            seen.add(pid)
        if len(seen) > 1:
            raise StackFailed(f"Neo4j died while it was starting.\n{tails(home)}")
        return set_first_password(stack.neo4j_uri, stack.neo4j_user, stack.neo4j_password)

    wait_for(usable, START_SECONDS, home, "Neo4j", supervisord)
    home.password_is_set.touch()


def wait_until_ready(home: Home, stack: Stack, say: Callable[[str], None]) -> None:
    """Wait until the API says that every part is ready."""
    say("Starting the API, the worker and beat ...")
    missing = "The API does not answer."

    def ready() -> bool:
        nonlocal missing
        try:
            answer = httpx.get(f"{stack.api_url}/api/ready", timeout=5)
            checks = answer.json()["checks"].values()
        except (httpx.HTTPError, ValueError, KeyError):
            return False
        missing = " ".join(check["detail"] for check in checks if not check["ok"])
        return answer.status_code == 200

    deadline = time.monotonic() + START_SECONDS
    while not ready():
        if time.monotonic() > deadline:
            raise StackFailed(f"Not everything came up: {missing}\n{tails(home)}")
        time.sleep(0.2)


def stop(home: Home) -> bool:
    """Stop every process of this stack, however it was left. True if there was anything to stop."""
    stack = home.running()
    if stack:
        with suppress(OSError, xmlrpc.client.Error):
            home.supervisor(stack).shutdown()
        deadline = time.monotonic() + STOP_SECONDS
        while home.members() and time.monotonic() < deadline:
            time.sleep(0.1)
    strays = home.members()
    for process in strays:
        with suppress(psutil.Error):
            if "supervisor.supervisord" in process.cmdline():
                process.kill()  # first, or it would start again what is stopped here
                process.wait(5)
    for process in strays:
        with suppress(psutil.Error):
            process.terminate()
    _, stubborn = psutil.wait_procs(strays, timeout=20)
    for process in stubborn:
        with suppress(psutil.Error):
            process.kill()
    (home.run / "stack.json").unlink(missing_ok=True)
    return bool(stack or strays)


def wait_for(
    done: Callable[[], bool],
    seconds: float,
    home: Home,
    name: str,
    supervisord: "subprocess.Popen[bytes]",
) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline or supervisord.poll() is not None:
            raise StackFailed(f"{name} did not come up in {seconds:.0f} s.\n{tails(home)}")
        time.sleep(0.1)


def tails(home: Home, lines: int = 15) -> str:
    """The last lines of every log, for the person who has to find out."""
    found = []
    for log in (*sorted(home.run.glob("supervisord.*o*")), *sorted(home.logs.glob("*.log"))):
        text = log.read_text(errors="replace").splitlines()[-lines:]
        found.append("\n".join([f"--- {log.name}", *text]))
    return "\n".join(found)


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(text)
    part.rename(file)


@contextmanager
def stack_of(home: Home, settings: Settings) -> Iterator[Stack]:
    """A stack for the length of a `with`: benchmarks and fault tests."""
    stack = start(home, settings, lambda _: None)
    try:
        wait_until_ready(home, stack, lambda _: None)
        yield stack
    finally:
        stop(home)
