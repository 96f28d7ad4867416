"""A stack, or a graph, of a benchmark's own: nothing beside it is touched, and nothing stays.

Only with BENCH_NEO4J_URI, BENCH_NEO4J_USER, BENCH_NEO4J_PASSWORD and BENCH_REDIS_URL are servers
used that run already: for tests of the report, not of the figures. What is measured on stays there.
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


def servers() -> Settings:
    """Settings with the servers given for benchmarks, and never those of `pentimento up`."""
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
    """A running stack, the settings to reach its graph, and an admin key of its demo tenant."""
    settings = servers()
    home = Home(folder)
    for part in ("neo4j", "models"):
        (home.folder / part).symlink_to(settings.home.resolve() / part)
    with stack_of(home, settings) as stack:
        inside = stack.settings_for(settings)
        yield stack, inside, asyncio.run(prepare_demo(inside, None))


@contextmanager
def private_neo4j(folder: Path) -> Iterator[Settings]:
    """A Neo4j as `pentimento up` would start it, with nothing around it that takes its time."""
    settings = servers()
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
    """The address of a Redis that keeps nothing."""
    if given := servers().redis_url:
        yield given
        return
    with own_redis(folder) as url:
        yield url


async def bare(graph: Graph, statement: str, **parameters: Any) -> list[dict[str, Any]]:
    """Through the same driver and pool, and nothing of ours."""
    async with graph._driver.session(database=graph._database) as session:
        result = await session.run(f"CYPHER 25 {statement}", parameters)
        return [dict(record) async for record in result]


def over_data(
    measure: Callable[[Settings, Path, Console], Coroutine[Any, Any, int]], told: str | None
) -> int:
    """Let `measure` loose on `--data`, over a Neo4j of its own."""
    parser = argparse.ArgumentParser(description=told)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    with tempfile.TemporaryDirectory() as folder, private_neo4j(Path(folder)) as settings:
        return asyncio.run(measure(settings, data, Console(width=110)))
