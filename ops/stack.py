"""The local stack: Neo4j, Redis, the API, a worker and beat, kept alive by supervisord.

supervisord restarts processes that die and logs it. This module writes its configuration, starts
it, waits until everything is ready, and ends every process when the stack is stopped.
"""

import hashlib
import os
import secrets
import shlex
import subprocess
import sys
import time
import xmlrpc.client
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import httpx
import psutil

from engine.errors import EngineError
from engine.settings import Settings
from engine.store import set_first_password
from ops.diagnosis import LogMarks, StackFailed, explain, shown
from ops.home import MARK, Home, Stack, write_private
from ops.local_neo4j import Neo4jPlace, command, find_redis
from ops.ports import free_port

# Long, for a busy machine: a process that dies ends the wait at once.
START_SECONDS = 300.0
STOP_SECONDS = 40.0

PROGRAM = """
[program:{name}]
command={command}
priority={priority}
autostart={autostart}
autorestart=true
startsecs=1
startretries=1000000
stopwaitsecs={stop_seconds}
stopasgroup={as_group}
killasgroup=true
stdout_logfile=NONE
stderr_logfile=NONE
"""

# Processes write to their log files directly. Through pipes, a supervisord that hangs would block
# every process that logs a line.
LOG_TO = ["/bin/sh", "-c", 'exec "$@" >>"$0" 2>&1']
MAX_LOG_BYTES = 20 * 1024 * 1024  # a larger log is renamed to .log.1 at the next start

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


# How often a process may start until the stack is ready. The API, the worker and beat may die once
# or twice because a database is not there yet.
MAX_STARTS = {"neo4j": 1, "redis": 1}
MAX_STARTS_OF_OTHERS = 3


class Startup:
    """A stack that is starting: notices when one of its processes dies."""

    def __init__(self, home: Home, stack: Stack, marks: LogMarks) -> None:
        self.home, self.stack, self.marks = home, stack, marks
        self.supervisord = launch_supervisord(home, stack)
        self._starts: dict[str, set[int]] = {}

    def wait_until(
        self, done: Callable[[], bool], seconds: float, missing: Callable[[], str]
    ) -> None:
        """Wait until `done` is true. Raises StackFailed when a process dies or time runs out."""
        deadline = time.monotonic() + seconds
        while not done():
            self.check()
            if time.monotonic() > deadline:
                raise StackFailed(
                    f"{missing()} after {seconds:.0f} s.",
                    "The machine may be too busy: try again, or run `pentimento doctor`.",
                    self.home.logs,
                )
            time.sleep(0.1)

    def check(self) -> None:
        """Raise StackFailed when supervisord is gone or a process started too often."""
        if self.supervisord.poll() is not None:
            log = self.home.run / "supervisord.out"
            raise StackFailed("supervisord did not start, or stopped.", log=log)
        try:
            processes = self.home.supervisor(self.stack).getAllProcessInfo()
        except (OSError, xmlrpc.client.Error):
            return  # it has not opened its port yet
        for process in processes:
            name, starts = process["name"], self._starts.setdefault(process["name"], set())
            if process["start"]:
                starts.add(process["start"])
            allowed = MAX_STARTS.get(name, MAX_STARTS_OF_OTHERS)
            is_down = process["statename"] in ("BACKOFF", "EXITED", "FATAL")
            if len(starts) > allowed or (is_down and len(starts) == allowed):
                raise explain(self.home, self.marks, name)


def start(home: Home, settings: Settings, say: Callable[[str], None]) -> Startup:
    """Start every process and wait until Neo4j answers. The caller waits for the rest."""
    stop(home)  # processes that an earlier stack left behind when it crashed
    prepare_folders(home)
    check_password(home, settings)
    programs: Programs = {}
    neo4j_uri, neo4j_password, browser_url = plan_neo4j(home, settings, programs)
    redis_url = plan_redis(home, settings, programs)
    api_port = plan_api_and_jobs(home, settings, programs)
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
    # A new Neo4j locks its user after failed logins, so processes wait until the password is set.
    is_new = "neo4j" in programs and not home.password_is_set.exists()
    delayed = set(programs) - {"neo4j", "redis"} if is_new else set()
    configuration = SUPERVISOR.format(run=home.run, port=port, password=password)
    sections = program_sections(home, settings, programs, delayed)
    write_private(home.run / "supervisord.conf", configuration + sections)
    home.save(stack)
    startup = Startup(home, stack, LogMarks(home))
    startup.wait_until(lambda: home.running() is not None, 20, lambda: "supervisord is silent")
    if "neo4j" in programs:
        say("Starting Neo4j ...")
        wait_for_neo4j(startup)
    for name in delayed:
        home.supervisor(stack).startProcess(name, False)
    return startup


def prepare_folders(home: Home) -> None:
    for folder in (home.run, home.logs, home.data / "redis", home.data / "beat"):
        folder.mkdir(parents=True, exist_ok=True)
    for log in home.logs.glob("*.log"):
        if log.stat().st_size > MAX_LOG_BYTES:
            log.rename(log.with_suffix(".log.1"))


def check_password(home: Home, settings: Settings) -> None:
    """Refuse to start when the data of Neo4j was created with another password than we have.

    Neo4j would refuse every login, and lock its user after a few.
    """
    if settings.neo4j_uri is not None or not home.password_is_set.exists():
        return
    set_before = home.password_is_set.read_text()
    if set_before and set_before != fingerprint(home.secret("neo4j_password")):
        data, file = shown(home.data / "neo4j"), shown(home.folder / "secrets.json")
        raise StackFailed(
            f"The Neo4j data in {data} has another password than the one in {file}.",
            f"Put the {file} back that belongs to it, or move {data} away to start with no data.",
        )


def fingerprint(password: str) -> str:
    """Tells passwords apart without storing them; ours are random, so nobody can guess them."""
    return hashlib.sha256(password.encode()).hexdigest()


def plan_neo4j(home: Home, settings: Settings, programs: Programs) -> tuple[str, str, str | None]:
    """Address, password and Browser URL of the Neo4j to use: the one set, else a local one."""
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
    """URL of the Redis to use: the one set, else a local one."""
    if settings.redis_url is not None:
        return settings.redis_url
    port, password = home.port("redis", 6399), home.secret("redis_password")
    configuration = REDIS.format(port=port, data=home.data / "redis", password=password)
    write_private(home.run / "redis.conf", configuration)
    programs["redis"] = [find_redis(), str(home.run / "redis.conf")]
    return f"redis://:{password}@127.0.0.1:{port}/0"


def plan_api_and_jobs(home: Home, settings: Settings, programs: Programs) -> int:
    """Add the API, the worker and beat. Returns the API's port."""
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


def program_sections(home: Home, settings: Settings, programs: Programs, delayed: set[str]) -> str:
    """The programs in supervisord's configuration format."""
    return "".join(
        PROGRAM.format(
            name=name,
            command=shlex.join([*LOG_TO, str(home.log(name)), *line]).replace("%", "%%"),
            # supervisord stops in reverse order: the API and the jobs before the databases.
            priority=priority,
            autostart=str(name not in delayed).lower(),
            stop_seconds=30 if name == "neo4j" else settings.shutdown_seconds + 2,
            # Celery stops its own children; if they get the signal too, their jobs are lost.
            as_group=str(name != "worker").lower(),
        )
        for priority, (name, line) in enumerate(programs.items(), start=1)
    )


def launch_supervisord(home: Home, stack: Stack) -> "subprocess.Popen[bytes]":
    with (home.run / "supervisord.out").open("wb") as output:
        return subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "supervisor.supervisord", "-c", home.run / "supervisord.conf"],
            env={**os.environ, **stack.environment(), MARK: str(home.folder)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C reaches `pentimento up`, which stops things in order
        )


def wait_for_neo4j(startup: Startup) -> None:
    """Wait until Neo4j accepts our password; a new one is given it."""
    stack, home = startup.stack, startup.home

    def accepts_password() -> bool:
        try:
            return set_first_password(stack.neo4j_uri, stack.neo4j_user, stack.neo4j_password)
        except EngineError as error:
            raise StackFailed(str(error), log=home.log("neo4j")) from error

    startup.wait_until(accepts_password, START_SECONDS, lambda: "Neo4j does not answer")
    home.password_is_set.write_text(fingerprint(stack.neo4j_password))


def wait_until_ready(startup: Startup, say: Callable[[str], None]) -> None:
    """Wait until the API reports that every part is ready."""
    say("Starting the API, the worker and beat ...")
    not_ready = "The API does not answer"

    def ready() -> bool:
        nonlocal not_ready
        try:
            answer = httpx.get(f"{startup.stack.api_url}/api/ready", timeout=5)
            checks = answer.json()["checks"].values()
        except (httpx.HTTPError, ValueError, KeyError):
            return False
        failing = [check["detail"].rstrip(".") for check in checks if not check["ok"]]
        not_ready = f"Not everything is ready: {'; '.join(failing)}"
        return answer.status_code == 200

    startup.wait_until(ready, START_SECONDS, lambda: not_ready)


def stop(home: Home) -> bool:
    """End every process of this stack, also after a crash. True if there was any."""
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
                process.kill()  # first, or it would restart the processes ended below
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


@contextmanager
def stack_of(home: Home, settings: Settings) -> Iterator[Stack]:
    """A stack that runs as long as the `with` block: for benchmarks and fault tests."""
    try:
        startup = start(home, settings, lambda _: None)
        wait_until_ready(startup, lambda _: None)
        yield startup.stack
    finally:
        stop(home)
