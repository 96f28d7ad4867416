"""Real servers for the tests: given by URI, else from Docker, else local ones of our own.

Each has its own folder and its own ports, so that test runs can go side by side.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import docker
import httpx
import redis
from docker.errors import DockerException

from engine.ids import new_id
from engine.settings import Settings
from ops.local_neo4j import Neo4jPlace
from ops.ports import free_port
from ops.servers import Process, end, own_neo4j, wait_until

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
    browser_url: str | None = None  # where Neo4j Browser is, of a local one


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
    with own_neo4j(INSTALLED, place, PASSWORD) as uri:
        yield Neo4jServer(uri, "neo4j", PASSWORD, place.browser_url)


def neo4j_place(folder: Path) -> Neo4jPlace:
    # Tests fill and clear the graph all the time: planning each statement anew whenever its size
    # has changed took most of the processor's time.
    return Neo4jPlace(
        folder, free_port(), free_port(), heap="512m", page_cache="128m", replan_seconds=36_000
    )


@contextmanager
def redis_in_docker() -> Iterator[str]:
    from testcontainers.redis import RedisContainer

    with RedisContainer(REDIS_IMAGE) as container:
        host, port = container.get_container_host_ip(), container.get_exposed_port(6379)
        yield f"redis://{host}:{port}/0"


@contextmanager
def running(line: list[str], settings: Settings, log: Path) -> Iterator[Process]:
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
def local_worker(settings: Settings, folder: Path) -> Iterator[Process]:
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


def as_environment(settings: Settings) -> dict[str, str]:
    values = settings.model_dump(mode="python")
    plain = {
        k: v.get_secret_value() if hasattr(v, "get_secret_value") else v for k, v in values.items()
    }
    return {f"PENTIMENTO_{k.upper()}": str(v) for k, v in plain.items() if v is not None}
