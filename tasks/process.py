"""What a worker process keeps open between jobs: an event loop, and the graph it belongs to."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from celery.signals import worker_process_init
from redis.asyncio import Redis

from engine.embedding import Embedder, claim_model, open_embedder
from engine.extraction import Extractor, open_extractor
from engine.policy import set_deployment_policy
from engine.service import Clock, open_clock
from engine.store import Graph, migrate, open_broker
from tasks.app import settings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Process:
    loop: asyncio.AbstractEventLoop
    graph: Graph
    clock: Clock


@cache
def process() -> Process:
    """Opened at a process's first job; a graph that is not ready then fails that job, not this."""
    graph = Graph.open(settings)
    return Process(asyncio.new_event_loop(), graph, open_clock(settings, graph))


@cache
def embedder() -> Embedder:
    """Kept: loading takes longer than a hundred texts."""
    return open_embedder(settings)


@worker_process_init.connect  # type: ignore[untyped-decorator]
def warm_up(**_: Any) -> None:
    """Whoever speaks first after a start should not wait for the model either."""
    embedder().warm_up()


@cache
def broker() -> Redis:
    return open_broker(settings)


@cache
def extractor() -> Extractor:
    return open_extractor(settings)


_migrated = False


def run(job: Callable[..., Awaitable[T]], *arguments: Any, **options: Any) -> T:
    """Run one engine function over this process's graph, with the engine's time as `now`."""
    here = process()

    async def work() -> T:
        global _migrated
        if not _migrated:  # a worker may be up before any API has prepared the graph
            await migrate(here.graph)
            await claim_model(here.graph, embedder(), analyzer=settings.full_text_analyzer)
            await set_deployment_policy(here.graph, settings)
            _migrated = True
        return await job(here.graph, *arguments, now=await here.clock.now(), **options)

    task = here.loop.create_task(work())
    try:
        return here.loop.run_until_complete(task)
    except BaseException:
        # Out of time, or told to stop, in the middle of it: it must not go on inside the next job.
        task.cancel()
        here.loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        raise
