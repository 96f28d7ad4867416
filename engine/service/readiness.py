"""Whether the engine can serve requests now: checks of all its parts, in parallel."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass

from redis.asyncio import Redis

from engine.embedding import Embedder
from engine.errors import EngineError, ModelMismatch
from engine.store import Graph, list_workers, pending, ping

PATIENCE = 2.0  # seconds; a part that answers later counts as not ready


@dataclass(frozen=True, slots=True)
class Check:
    """The state of one part that the engine needs."""

    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Readiness:
    """All checks, by name; `ready` when every one is ok."""

    ready: bool
    checks: dict[str, Check]


async def check_readiness(graph: Graph, redis: Redis, embedder: Embedder, warm: Check) -> Readiness:
    """Check every part in parallel. `warm`: whether first requests are as fast as later ones."""
    limited = graph.with_limit(PATIENCE)
    running = {
        "neo4j": check_neo4j(limited),
        "schema": check_schema(limited),
        "model": check_model(limited, embedder),
        "redis": check_redis(redis),
        "worker": check_workers(redis),
    }
    results = await asyncio.gather(*map(failed_on_error, running.values()))
    checks = dict(zip(running, results, strict=True))
    checks["warm"] = warm
    return Readiness(all(check.ok for check in checks.values()), checks)


async def failed_on_error(check: Awaitable[Check]) -> Check:
    """The result of a check; a failed one when it raises or takes too long."""
    try:
        async with asyncio.timeout(PATIENCE + 0.5):
            return await check
    except EngineError as error:
        return Check(False, str(error))
    except TimeoutError:
        return Check(False, "No answer in time.")


async def check_neo4j(graph: Graph) -> Check:
    await graph.read("store/setup/ping")
    return Check(True, "Neo4j answers.")


async def check_schema(graph: Graph) -> Check:
    unapplied = await pending(graph)
    if unapplied:
        return Check(False, f"{len(unapplied)} migrations are still to be applied.")
    return Check(True, "The schema is up to date.")


async def check_model(graph: Graph, embedder: Embedder) -> Check:
    rows = await graph.read("embedding/read_model")
    if not rows:
        return Check(False, "No embedding model has been claimed yet.")
    stored = rows[0]["model"], rows[0]["dimensions"]
    if stored != (embedder.model, embedder.dimensions):
        raise ModelMismatch(stored[0], embedder.model)
    return Check(True, f"Vectors are made by {embedder.model}.")


async def check_redis(redis: Redis) -> Check:
    await ping(redis)
    return Check(True, "Redis answers.")


async def check_workers(redis: Redis) -> Check:
    workers = await list_workers(redis)
    if not workers:
        return Check(False, "No worker has sent a heartbeat lately.")
    return Check(True, f"{len(workers)} worker{'s' * (len(workers) > 1)} running.")
