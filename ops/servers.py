"""A temporary Neo4j or Redis for tests and benchmarks.

Each has its own folder and ports, so that several can run side by side.
"""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import redis

from engine.store import set_first_password
from ops.local_neo4j import Neo4jPlace, command, find_redis
from ops.ports import free_port

Process = subprocess.Popen[bytes]


@contextmanager
def own_neo4j(home: Path, place: Neo4jPlace, password: str) -> Iterator[str]:
    """A Neo4j run from the jars in `home`, with the data of its folder. Yields its address."""
    process = start_neo4j(home, place, password)
    try:
        yield place.uri
    finally:
        end(process)


def start_neo4j(home: Path, place: Neo4jPlace, password: str, seconds: float = 300) -> Process:
    """Start a Neo4j and wait until its password is set. A failure's text contains its log."""
    line = command(home, place)
    log = place.folder / "output.log"  # Neo4j's own log has no failed starts
    with log.open("wb") as opened:
        process = subprocess.Popen(line, stdout=opened, stderr=subprocess.STDOUT)  # noqa: S603
    try:
        wait_until(lambda: set_first_password(place.uri, "neo4j", password), process, log, seconds)
    except BaseException:
        end(process)
        raise
    return process


@contextmanager
def own_redis(folder: Path) -> Iterator[str]:
    """A Redis that stores nothing on disk. Yields its address."""
    port = free_port()
    log = folder / "redis.log"
    line = [find_redis(), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    with log.open("wb") as opened:
        process = subprocess.Popen(  # noqa: S603
            [*line, "--save", ""], stdout=opened, stderr=subprocess.STDOUT
        )
    try:
        wait_until(lambda: redis_answers(port), process, log)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        end(process)


def redis_answers(port: int) -> bool:
    try:
        return bool(redis.Redis(port=port).ping())
    except redis.ConnectionError:
        return False


def wait_until(done: Callable[[], bool], process: Process, log: Path, seconds: float = 180) -> None:
    """Wait until `done` is true. RuntimeError when the process ends first or time runs out."""
    deadline = time.monotonic() + seconds
    while not done():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{process.args!r} failed:\n{log.read_text(errors='replace')}")
        time.sleep(0.1)


def end(process: Process) -> None:
    """Stop a process we started, with its children."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        children = []
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for child in children:
        if child.is_running():
            child.kill()
