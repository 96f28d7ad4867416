"""Can the engine do its work right now? Asked part by part, side by side, in bounded time."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass

from redis.asyncio import Redis

from engine.embedding import Embedder
from engine.errors import EngineError, ModelMismatch
from engine.store import Graph, list_workers, pending, ping

PATIENCE = 2.0  # seconds; an answer that comes later is as good as none


@dataclass(frozen=True, slots=True)
class Check:
    """One part the engine stands on."""

    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Readiness:
    """All parts together; `ready` only when every one is."""

    ready: bool
    checks: dict[str, Check]


async def check_readiness(graph: Graph, redis: Redis, embedder: Embedder, warm: Check) -> Readiness:
    """Ask every part, side by side. `warm` is whether first requests are as fast as later ones."""
    impatient = graph.with_limit(PATIENCE)
    asked = {
        "neo4j": answers(impatient),
        "schema": schema(impatient),
        "model": model(impatient, embedder),
        "redis": carries(redis),
        "worker": worker(redis),
    }
    checks = dict(zip(asked, await asyncio.gather(*map(judge, asked.values())), strict=True))
    checks["warm"] = warm
    return Readiness(all(check.ok for check in checks.values()), checks)


async def judge(question: Awaitable[Check]) -> Check:
    try:
        async with asyncio.timeout(PATIENCE + 0.5):
            return await question
    except EngineError as error:
        return Check(False, str(error))
    except TimeoutError:
        return Check(False, "No answer in time.")


async def answers(graph: Graph) -> Check:
    await graph.read("store/setup/ping")
    return Check(True, "Neo4j answers.")


async def schema(graph: Graph) -> Check:
    waiting = await pending(graph)
    if waiting:
        return Check(False, f"{len(waiting)} migrations are still to be applied.")
    return Check(True, "The schema is up to date.")


async def model(graph: Graph, embedder: Embedder) -> Check:
    found = await graph.read("embedding/read_model")
    if not found:
        return Check(False, "No embedding model has been claimed yet.")
    remembered = found[0]["model"], found[0]["dimensions"]
    if remembered != (embedder.model, embedder.dimensions):
        raise ModelMismatch(remembered[0], embedder.model)
    return Check(True, f"Vectors are made by {embedder.model}.")


async def carries(redis: Redis) -> Check:
    await ping(redis)
    return Check(True, "Redis answers.")


async def worker(redis: Redis) -> Check:
    seen = await list_workers(redis)
    if not seen:
        return Check(False, "No worker was heard of lately.")
    return Check(True, f"{len(seen)} worker{'s' * (len(seen) > 1)} at work.")
