"""Real servers for the tests: given by URI, else from Docker, else local ones of our own.

Each has its own folder and its own ports, so that test runs can go side by side.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import docker
import httpx
import psutil
import redis
from docker.errors import DockerException

from engine.graph import set_first_password
from engine.models import new_id
from engine.settings import Settings
from ops.local_neo4j import Neo4jPlace, command, find_redis
from ops.ports import free_port

PROJECT = Path(__file__).resolve().parent.parent
INSTALLED = PROJECT / ".pentimento"  # what `pentimento install` fetched
PASSWORD = "only-for-tests"
NEO4J_IMAGE = "neo4j:2026.08.1-community"
REDIS_IMAGE = "redis:7-alpine"


@dataclass(frozen=True)
class Neo4jServer:
    uri: str
    user: str
    password: str


def docker_answers() -> bool:
    try:
        docker.from_env(timeout=5).ping()
    except DockerException:
        return False
    return True


@contextmanager
def neo4j_in_docker() -> Iterator[Neo4jServer]:
    from testcontainers.neo4j import Neo4jContainer

    with Neo4jContainer(NEO4J_IMAGE, password=PASSWORD) as container:
        yield Neo4jServer(container.get_connection_url(), "neo4j", PASSWORD)


@contextmanager
def local_neo4j(folder: Path) -> Iterator[Neo4jServer]:
    """A Neo4j with a database of its own in `folder`."""
    place = neo4j_place(folder)
    process = start_neo4j(place)
    try:
        yield Neo4jServer(place.uri, "neo4j", PASSWORD)
    finally:
        end(process)


def neo4j_place(folder: Path) -> Neo4jPlace:
    # Tests fill and clear the graph all the time: planning each statement anew whenever its size
    # has changed took most of the processor's time.
    return Neo4jPlace(
        folder, free_port(), free_port(), heap="512m", page_cache="128m", replan_seconds=36_000
    )


def start_neo4j(place: Neo4jPlace, seconds: float = 300) -> "subprocess.Popen[bytes]":
    """Start Neo4j on what is in its folder, and wait for it. Its log is told when it fails."""
    line = command(INSTALLED, place)
    output = place.folder / "output.log"  # Neo4j's own log goes beside; a failed start is here
    with output.open("wb") as opened:
        process = subprocess.Popen(line, stdout=opened, stderr=subprocess.STDOUT)
    try:
        wait_until(
            lambda: set_first_password(place.uri, "neo4j", PASSWORD), process, output, seconds
        )
    except BaseException:
        end(process)
        raise
    return process


@contextmanager
def redis_in_docker() -> Iterator[str]:
    from testcontainers.redis import RedisContainer

    with RedisContainer(REDIS_IMAGE) as container:
        host, port = container.get_container_host_ip(), container.get_exposed_port(6379)
        yield f"redis://{host}:{port}/0"


@contextmanager
def local_redis(folder: Path) -> Iterator[str]:
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    line = [find_redis(), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    with (folder / "redis.log").open("wb") as opened:
        process = subprocess.Popen([*line, "--save", ""], stdout=opened, stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: redis_answers(port), process, folder / "redis.log")
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        end(process)


def redis_answers(port: int) -> bool:
    try:
        return bool(redis.Redis(port=port).ping())
    except redis.ConnectionError:
        return False


@contextmanager
def running(line: list[str], settings: Settings, log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """One of our own processes, with these settings as its environment."""
    with log.open("wb") as opened:
        process = subprocess.Popen(
            line,
            env={**os.environ, **as_environment(settings)},
            cwd=PROJECT,
            stdout=opened,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        end(process)


@contextmanager
def local_api(settings: Settings, folder: Path) -> Iterator[str]:
    """The API as people run it: a process of its own. Yields its address."""
    port = free_port()
    log = folder / "api.log"
    address = f"http://127.0.0.1:{port}"
    own = settings.model_copy(update={"api_port": port})
    with running([sys.executable, "-m", "api"], own, log) as process:
        wait_until(lambda: answers(f"{address}/api/health"), process, log)
        yield address


@contextmanager
def local_worker(settings: Settings, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker as people run it. Yields its process, once it has said that it is there."""
    log = folder / "worker.log"
    line = [sys.executable, "-m", "celery", "-A", "tasks.app", "worker", "--concurrency=1"]
    name = f"worker-{new_id()}@here"
    seen = redis.Redis.from_url(str(settings.redis_url))
    with running([*line, "--without-mingle", "-n", name], settings, log) as process:
        wait_until(lambda: bool(seen.exists(f"pentimento:worker:{name}")), process, log)
        yield process


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def wait_until(
    true: Callable[[], bool], process: "subprocess.Popen[bytes]", log: Path, seconds: float = 180
) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{process.args!r} failed:\n{log.read_text(errors='replace')}")
        time.sleep(0.1)


def as_environment(settings: Settings) -> dict[str, str]:
    values = settings.model_dump(mode="python")
    plain = {
        k: v.get_secret_value() if hasattr(v, "get_secret_value") else v for k, v in values.items()
    }
    return {f"PENTIMENTO_{k.upper()}": str(v) for k, v in plain.items() if v is not None}


def end(process: "subprocess.Popen[bytes]") -> None:
    """Stop a process we started, with its children."""
    try:
        family = [*psutil.Process(process.pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        family = []
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for child in family:
        if child.is_running():
            child.kill()
