"""What a worker process keeps between jobs: an event loop, and the graph that belongs to it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from celery.signals import worker_process_init
from redis.asyncio import Redis

from engine.embedding import Embedder, claim_model, open_embedder
from engine.extraction import Extractor, open_extractor
from engine.night import NightTools, open_night_tools
from engine.policy import set_deployment_policy
from engine.service import Clock, open_clock
from engine.store import Graph, migrate, open_broker
from tasks.app import settings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Process:
    """The event loop of a worker process, with the graph and the clock that run in it."""

    loop: asyncio.AbstractEventLoop
    graph: Graph
    clock: Clock


@cache
def process() -> Process:
    """Opened at the first job. Connects to nothing yet, so only that job fails without a graph."""
    graph = Graph.open(settings)
    return Process(asyncio.new_event_loop(), graph, open_clock(settings, graph))


@cache
def embedder() -> Embedder:
    """Kept between jobs: loading the model takes longer than embedding a hundred texts."""
    return open_embedder(settings)


@worker_process_init.connect  # type: ignore[untyped-decorator]
def warm_up(**_: Any) -> None:
    """Load the model at the start, so that the first message does not wait for it."""
    embedder().warm_up()


@cache
def broker() -> Redis:
    return open_broker(settings)


@cache
def extractor() -> Extractor:
    return open_extractor(settings)


@cache
def night_tools() -> NightTools:
    return open_night_tools(settings, embedder())


_prepared = False  # whether this process has migrated the graph and claimed its model


def run(job: Callable[..., Awaitable[T]], *arguments: Any, **options: Any) -> T:
    """Run one engine function on this process's graph, with the engine's time as `now`."""
    current = process()

    async def work() -> T:
        global _prepared
        if not _prepared:  # a worker may start before any API has prepared the graph
            await migrate(current.graph)
            await claim_model(current.graph, embedder(), analyzer=settings.full_text_analyzer)
            await set_deployment_policy(current.graph, settings)
            _prepared = True
        return await job(current.graph, *arguments, now=await current.clock.now(), **options)

    task = current.loop.create_task(work())
    try:
        return current.loop.run_until_complete(task)
    except BaseException:
        # Out of time, or told to stop: the work must not continue during the next job.
        task.cancel()
        current.loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        raise
