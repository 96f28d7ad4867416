"""Temporary servers for benchmarks: a whole stack, a Neo4j or a Redis, deleted afterwards.

With BENCH_NEO4J_URI, BENCH_NEO4J_USER, BENCH_NEO4J_PASSWORD and BENCH_REDIS_URL, running servers
are used instead, and the data stays on them: for tests of the reports, not for figures.
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from rich.console import Console

from engine.settings import Settings
from engine.store import Graph
from ops.demo import prepare_demo
from ops.home import Home, Stack
from ops.local_neo4j import Neo4jPlace
from ops.ports import free_port
from ops.servers import own_neo4j, own_redis
from ops.stack import stack_of

PASSWORD = "only-for-benchmarks"  # noqa: S105


def bench_settings() -> Settings:
    """Settings with the servers set for benchmarks, never those of `pentimento up`."""
    return Settings().model_copy(
        update={
            "neo4j_uri": os.environ.get("BENCH_NEO4J_URI"),
            "neo4j_user": os.environ.get("BENCH_NEO4J_USER", "neo4j"),
            "neo4j_password": SecretStr(os.environ.get("BENCH_NEO4J_PASSWORD", "")),
            "redis_url": os.environ.get("BENCH_REDIS_URL"),
        }
    )


@contextmanager
def private_stack(folder: Path) -> Iterator[tuple[Stack, Settings, str]]:
    """Yields a running stack, settings for its graph, and an admin key of its demo tenant."""
    settings = bench_settings()
    home = Home(folder)
    for part in ("neo4j", "models"):
        (home.folder / part).symlink_to(settings.home.resolve() / part)
    with stack_of(home, settings) as stack:
        own = stack.settings_for(settings)
        yield stack, own, asyncio.run(prepare_demo(own, None))


@contextmanager
def private_neo4j(folder: Path) -> Iterator[Settings]:
    """A Neo4j as `pentimento up` starts it, without other processes that take processor time."""
    settings = bench_settings()
    if settings.neo4j_uri:
        yield settings
        return
    place = Neo4jPlace(
        folder, free_port(), free_port(), settings.neo4j_heap, settings.neo4j_page_cache
    )
    with own_neo4j(settings.home, place, PASSWORD) as uri:
        own = {"neo4j_uri": uri, "neo4j_password": SecretStr(PASSWORD)}
        yield settings.model_copy(update=own)


@contextmanager
def private_redis(folder: Path) -> Iterator[str]:
    """The address of a Redis that stores nothing."""
    if url := bench_settings().redis_url:
        yield url
        return
    with own_redis(folder) as own_url:
        yield own_url


async def bare(graph: Graph, statement: str, **parameters: Any) -> list[dict[str, Any]]:
    """Run a statement through the graph's driver and pool, without the engine's code around it."""
    async with graph._driver.session(database=graph._database) as session:
        result = await session.run(f"CYPHER 25 {statement}", parameters)
        return [dict(record) async for record in result]


def run_on_data(
    measure: Callable[[Settings, Path, Console], Coroutine[Any, Any, int]], description: str | None
) -> int:
    """Run `measure` on each file of `--data`, with a temporary Neo4j. Returns its exit code."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    missed = 0
    for data in parser.parse_args().data:
        console = Console(width=110)
        console.rule(str(data))
        with tempfile.TemporaryDirectory() as folder, private_neo4j(Path(folder)) as settings:
            missed |= asyncio.run(measure(settings, data, console))
    return missed
