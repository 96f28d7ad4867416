"""A stack that cannot start says why in one line, and names the log with the rest."""

import json
import shutil
import socket
import sys
from pathlib import Path

import pytest

from ops import home as home_module
from ops.diagnosis import StackFailed, last_error
from ops.install import neo4j_folder, neo4j_jars
from ops.local_neo4j import find_redis
from ops.ports import free_port
from ops.stack import fingerprint, start, stop
from tests.ops.test_install import link
from tests.ops.test_stack import Newcomer
from tests.servers import INSTALLED

pytestmark = pytest.mark.timeout(200)


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    return Newcomer(tmp_path)


def reason(newcomer: Newcomer) -> str:
    """The only line of a failed start, beside what it was doing."""
    said = newcomer.types("up", "--detach", ok=False)
    (line,) = [line for line in said.splitlines() if not line.endswith("...")]
    assert newcomer.home.running() is None
    assert newcomer.home.members() == []
    return line


def test_too_little_memory_is_named(newcomer: Newcomer) -> None:
    newcomer.environment["PENTIMENTO_NEO4J_HEAP"] = "20m"

    line = reason(newcomer)

    assert line.startswith("Neo4j did not start: its Java heap is too small.")
    assert "PENTIMENTO_NEO4J_HEAP" in line
    assert line.endswith("Details: .pentimento/logs/neo4j.log")
    assert "OutOfMemoryError" in newcomer.home.log("neo4j").read_text()


def test_a_damaged_jar_is_named_and_fetched_again(newcomer: Newcomer) -> None:
    (newcomer.home.folder / "neo4j").unlink()
    folder = neo4j_folder(newcomer.home.folder)
    shutil.copytree(neo4j_folder(INSTALLED), folder, copy_function=link)
    jar = next(jar for jar in neo4j_jars() if jar.artifact == "neo4j-kernel").path(folder)
    jar.unlink()
    jar.write_bytes(b"not a jar")

    line = reason(newcomer)
    repaired = newcomer.types("install", "--only", "neo4j", "--verify")

    assert jar.name in line
    assert "pentimento install --verify" in line
    assert "1 damaged" in repaired
    assert jar.stat().st_size > 1000


def test_data_with_another_password_is_not_started(newcomer: Newcomer) -> None:
    newcomer.home.keep_secret("neo4j_password", "of another folder")
    newcomer.home.password_is_set.parent.mkdir(parents=True)
    newcomer.home.password_is_set.write_text(fingerprint("the one it was created with"))

    line = reason(newcomer)

    assert "has another password than the one in .pentimento/secrets.json" in line
    assert "of another folder" not in line


def test_damaged_data_of_redis_is_named(newcomer: Newcomer) -> None:
    data = newcomer.home.data / "redis"
    data.mkdir(parents=True)
    (data / "appendonly.aof").write_text("garbage")
    # Redis 7 keeps it in a folder of its own.
    (data / "appendonlydir").mkdir()
    (data / "appendonlydir" / "appendonly.aof.manifest").write_text("garbage")

    line = reason(newcomer)

    assert line.startswith("Redis ")
    assert line.endswith("Details: .pentimento/logs/redis.log")


def test_a_port_that_is_taken_meanwhile_is_named(
    newcomer: Newcomer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ports are chosen free; another program can still be faster."""
    home = newcomer.home
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (home.folder / "ports.json").write_text(json.dumps({"bolt": port}))
        monkeypatch.setattr(
            home_module,
            "free_port",
            lambda preferred, owner: (
                port if preferred == port else free_port(preferred, owner=owner)
            ),
        )
        with pytest.raises(StackFailed, match=f"another program took its port .*{port}"):
            start(home, newcomer.settings, lambda _: None)
    stop(home)


def test_without_a_redis_server_the_way_to_get_one_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(sys, "prefix", "/nowhere")

    with pytest.raises(LookupError, match="No redis-server was found. Run `make up`"):
        find_redis()


def test_a_wrong_setting_is_named(newcomer: Newcomer) -> None:
    newcomer.environment["PENTIMENTO_CLOCK"] = "broken"

    assert reason(newcomer) == "PENTIMENTO_CLOCK: Input should be 'system' or 'movable'."


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("", "it wrote nothing."),
        ("starting\nall is lost", "all is lost."),
        (
            "Traceback (most recent call last):\n  File x\nValueError: too large\nbye",
            "ValueError: too large.",
        ),
        (
            "java.lang.RuntimeException: outer\n\tat a.b.c\nCaused by: java.io.IOException: inner",
            "java.io.IOException: inner.",
        ),
    ],
)
def test_of_an_unknown_failure_the_innermost_error_is_shown(log: str, expected: str) -> None:
    assert last_error(log) == expected
