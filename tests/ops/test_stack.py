"""The local stack as a newcomer meets it: through its commands, on a folder of its own."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from engine.settings import Settings
from engine.store.graph import Graph
from ops.home import Home, Stack
from tests.conftest import clear
from tests.servers import INSTALLED, PROJECT

pytestmark = pytest.mark.timeout(400)

COMMAND = str(Path(sys.executable).parent / "pentimento")


class Newcomer:
    """Somebody at a terminal, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = Home(folder / ".pentimento")
        self.home.folder.mkdir()
        for part in ("neo4j", "models"):
            (self.home.folder / part).symlink_to(INSTALLED / part)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PENTIMENTO_")}
        self.environment = {
            **kept,
            "PENTIMENTO_CLOCK": "movable",
            "PENTIMENTO_NEO4J_HEAP": "512m",
            "PENTIMENTO_NEO4J_PAGE_CACHE": "128m",
        }

    @property
    def settings(self) -> Settings:
        return Settings(
            _env_file=None, home=self.home.folder, neo4j_heap="512m", neo4j_page_cache="128m"
        )

    def types(self, *words: str, ok: bool = True) -> str:
        said = subprocess.run(
            [COMMAND, *words],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert (said.returncode == 0) == ok, said.stdout + said.stderr
        return said.stdout if ok else said.stdout + said.stderr

    def starts(self, *words: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [COMMAND, *words],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Whoever started the tests in the background has Ctrl-C ignored; a terminal has not.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def status(self) -> dict[str, Any]:
        return dict(json.loads(self.types("status", "--json")))

    @property
    def stack(self) -> Stack:
        """What runs here, without asking the command: starting it takes two seconds."""
        running = self.home.running()
        assert running
        return running

    def pids(self) -> dict[str, int]:
        return {process["name"]: process["pid"] for process in self.home.processes(self.stack)}


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newcomer]:
    somebody = Newcomer(tmp_path_factory.mktemp("newcomer"))
    yield somebody
    somebody.types("down")


@pytest.fixture(scope="module")
def first_screens(newcomer: Newcomer) -> tuple[str, str]:
    """What two terminals show that start the stack at once; the port it would like is taken."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        newcomer.environment["PENTIMENTO_API_PORT"] = str(taken.getsockname()[1])
        both = [newcomer.starts("up", "--detach") for _ in range(2)]
        screens = [terminal.communicate(timeout=180)[0] for terminal in both]
    assert [terminal.returncode for terminal in both] == [0, 0], screens
    first, second = sorted(screens, key=lambda screen: "Running already" in screen)
    return first, second


@pytest.fixture(scope="module")
def first_screen(first_screens: tuple[str, str]) -> str:
    return first_screens[0]


@pytest.fixture
def up(newcomer: Newcomer, first_screen: str) -> Newcomer:
    return newcomer


@pytest.fixture(scope="module")
def born(newcomer: Newcomer, first_screen: str) -> str:
    """When the demo persona was made, by the stack that was up first."""
    return created_at(newcomer.stack)


def created_at(stack: Stack) -> str:
    answer = httpx.get(
        f"{stack.api_url}/api/personas/ada",
        headers={"Authorization": f"Bearer {stack.api_key}"},
    )
    return str(answer.json()["created_at"])


def test_the_printed_call_works_when_pasted(up: Newcomer, first_screen: str, born: str) -> None:
    lines = re.findall(r"^(?:eval|curl) .*$", first_screen, re.M)
    assert len(lines) == 2

    said = subprocess.run(  # noqa: S602
        "\n".join(lines),
        shell=True,
        cwd=up.folder,
        env=up.environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(said.stdout)["name"] == "Ada"
    assert json.loads(said.stdout)["created_at"] == born
    assert len(first_screen.splitlines()) < 24


def test_env_sets_the_address_and_the_key_of_the_demo_tenant(up: Newcomer) -> None:
    exports = dict(re.findall(r"^export (\w+)=(\S+)$", up.types("env"), re.M))

    assert exports == {"API": f"{up.stack.api_url}/api", "KEY": up.stack.api_key}
    answer = httpx.get(
        f"{exports['API']}/personas/ada", headers={"Authorization": f"Bearer {exports['KEY']}"}
    )
    assert answer.json()["name"] == "Ada"


def test_two_that_start_at_once_start_one_stack_on_ports_that_are_free(
    up: Newcomer, first_screens: tuple[str, str]
) -> None:
    assert ["Running already" in screen for screen in first_screens] == [False, True]
    supervisors = [p for p in up.home.members() if "supervisor.supervisord" in p.cmdline()]
    assert len(supervisors) == 1
    port = up.stack.api_url.rpartition(":")[2]
    assert port != up.environment["PENTIMENTO_API_PORT"]


def test_status_is_for_programs_too(up: Newcomer) -> None:
    status = up.status()

    assert set(status) == {
        "api_url",
        "neo4j_uri",
        "neo4j_user",
        "neo4j_password",
        "browser_url",
        "redis_url",
        "api_key",
        "processes",
    }
    names = {process["name"] for process in status["processes"]}
    assert names == {"neo4j", "redis", "api", "worker", "beat"}
    assert all(process["state"] == "running" for process in status["processes"])
    assert all(psutil.pid_exists(process["pid"]) for process in status["processes"])


def test_neo4j_browser_is_there(up: Newcomer) -> None:
    page = httpx.get(str(up.stack.browser_url), follow_redirects=True)

    assert page.status_code == 200
    assert "Neo4j Browser" in page.text


def test_secrets_are_for_their_owner_only(up: Newcomer) -> None:
    for name in ("secrets.json", "run/stack.json", "run/supervisord.conf", "run/redis.conf"):
        assert (up.home.folder / name).stat().st_mode & 0o077 == 0, name
    logs = "".join(log.read_text(errors="replace") for log in up.home.logs.glob("*.log"))
    assert up.stack.neo4j_password not in logs
    assert up.stack.api_key
    assert up.stack.api_key not in logs


def test_the_doctor_finds_nothing(up: Newcomer) -> None:
    said = up.types("doctor")

    assert "broken" not in said
    for part in ("Python", "Java", "Model", "Ready: worker"):
        assert part in said


def test_a_second_up_finds_the_first(up: Newcomer) -> None:
    before = up.pids()

    assert "Running already" in up.types("up", "--detach")
    assert up.pids() == before


def test_commands_find_the_running_stack(up: Newcomer) -> None:
    assert "up to date" in up.types("migrate")
    assert "would be run" in up.types("night", "--persona", "ada", "--dry-run")
    assert "is over" in up.types("night", "--persona", "ada", "--now", "2031-05-02T04:00:00")
    assert "over already" in up.types("night", "--persona", "ada", "--now", "2031-05-02T05:00:00")
    assert "would be run" in up.types("night", "--persona", "ada", "--now", "+36h", "--dry-run")
    assert "No persona" in up.types("night", "--persona", "nobody", ok=False)
    assert "not a time" in up.types("night", "--persona", "ada", "--now", "soon", ok=False)

    key = up.types("tenant", "add", "acme").strip()
    assert "acme" in up.types("tenant", "list")
    answer = httpx.get(
        f"{up.stack.api_url}/api/personas", headers={"Authorization": f"Bearer {key}"}
    )
    assert answer.json() == {"items": [], "next_cursor": None}


def test_beat_sends_a_persona_to_sleep_by_itself(up: Newcomer) -> None:
    """The whole chain: the clock, beat, Redis, the worker, Neo4j."""
    clock, personas = (f"{up.stack.api_url}/api/{it}" for it in ("clock", "personas"))
    headers = {"Authorization": f"Bearer {up.stack.api_key}"}
    httpx.post(personas, json={"id": "eve", "name": "Eve"}, headers=headers).raise_for_status()
    try:
        in_two_days = datetime.now(UTC) + timedelta(days=2)
        moved = httpx.put(clock, json={"now": in_two_days.isoformat()}, headers=headers)
        assert moved.status_code == 200

        deadline = time.monotonic() + 100  # the timetable looks once a minute
        log = up.home.log("worker")
        while '"state": "done"' not in log.read_text():
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.5)
        assert "over already" in up.types("night", "--persona", "eve")
    finally:
        httpx.put(clock, json={"now": None}, headers=headers)


def test_what_dies_is_restarted(up: Newcomer) -> None:
    before = up.pids()
    os.kill(before["beat"], signal.SIGKILL)

    deadline = time.monotonic() + 60
    while up.pids()["beat"] in (before["beat"], None):
        assert time.monotonic() < deadline
        time.sleep(0.3)

    assert "exited: beat" in (up.home.run / "supervisord.log").read_text()


def test_what_a_killed_supervisor_leaves_is_found_and_ended(up: Newcomer) -> None:
    pids = up.pids()
    os.kill(int((up.home.run / "supervisord.pid").read_text()), signal.SIGKILL)
    time.sleep(0.5)
    assert psutil.pid_exists(pids["neo4j"])
    said = up.types("doctor", ok=False)
    assert "make down" in said

    assert "Stopped" in up.types("down")

    assert up.home.members() == []
    assert not any(psutil.pid_exists(pid) for pid in pids.values())
    assert "Nothing was running" in up.types("down")
    assert "Not running" in up.types("status", ok=False)
    nothing = subprocess.run(
        [COMMAND, "env"], cwd=up.folder, env=up.environment, capture_output=True, check=False
    )
    assert nothing.returncode == 1
    assert nothing.stdout == b""  # or a shell would evaluate it


def test_another_up_finds_the_data_and_ctrl_c_stops_everything(
    newcomer: Newcomer, born: str
) -> None:
    key = newcomer.home.secrets()["api_key"]
    terminal = newcomer.starts("up")
    assert terminal.stdout
    for line in terminal.stdout:
        if "Ctrl-C" in line:
            break
    pids, stack = newcomer.pids(), newcomer.stack
    assert created_at(stack) == born
    assert stack.api_key == key

    terminal.send_signal(signal.SIGINT)

    assert terminal.wait(60) == 0
    assert [name for name, pid in pids.items() if psutil.pid_exists(pid)] == []
    assert newcomer.home.members() == []


async def test_a_given_neo4j_and_redis_are_used_instead(
    tmp_path: Path, settings: Settings, graph: Graph
) -> None:
    owner = Newcomer(tmp_path)
    owner.environment |= {
        "PENTIMENTO_NEO4J_URI": str(settings.neo4j_uri),
        "PENTIMENTO_NEO4J_USER": settings.neo4j_user,
        "PENTIMENTO_NEO4J_PASSWORD": settings.neo4j_password.get_secret_value(),
        "PENTIMENTO_REDIS_URL": str(settings.redis_url),
    }
    (owner.home.folder / "neo4j").unlink()  # no jars are needed then
    try:
        await asyncio.to_thread(owner.types, "up", "--detach")
        stack, pids = owner.stack, owner.pids()
        assert set(pids) == {"api", "worker", "beat"}
        assert stack.neo4j_uri == settings.neo4j_uri
        assert stack.redis_url == settings.redis_url
        assert stack.browser_url is None
        assert created_at(stack)
    finally:
        said = owner.types("down")
        await clear(graph, ["demo"])
    assert "Stopped" in said
    assert owner.home.members() == []
    assert not any(psutil.pid_exists(pid) for pid in pids.values())
    assert not (owner.home.folder / "neo4j").exists()


def test_the_doctor_says_what_is_missing(tmp_path: Path) -> None:
    nothing = Newcomer(tmp_path)
    for part in ("neo4j", "models"):
        (nothing.home.folder / part).unlink()

    said = nothing.types("doctor", ok=False)

    assert "jars are missing" in said
    assert "pentimento install" in said
    assert re.search(r"Model .* not installed", said)


def test_a_command_without_a_graph_says_so(tmp_path: Path) -> None:
    said = Newcomer(tmp_path).types("migrate", ok=False)

    assert "PENTIMENTO_NEO4J_URI" in said
    assert "Traceback" not in said


def test_make_knows_its_targets() -> None:
    said = subprocess.run(
        ["make", "help"], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout

    for target in ("up", "demo", "down", "test", "test-models", "check", "faults", "bench-door"):
        assert re.search(rf"^{target}\s+\S", said, re.M), target
