"""One step of a run: a transaction that does something, and writes down how to take it back."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from engine.access import PERSONA_LEASE_SECONDS, Persona
from engine.embedding import Vector
from engine.errors import EngineError, GraphTooSlow, NightUnderWay, Unavailable
from engine.memory import encode_changes
from engine.models import Row
from engine.policy import Policy
from engine.store import Graph, PreviewGraph, Write

# What a run can go on after: an item, or a batch, that a stage cannot digest.
INDIGESTIBLE = (
    EngineError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
)

Work = Callable[[Write, int], Awaitable["Step | None"]]
Batch = Callable[[Write, int], Awaitable["Step | None"]]  # of at most so many items


@dataclass(frozen=True, slots=True)
class Step:
    """What a step did, counted; and, unless its statement keeps that itself, what it changed."""

    did: dict[str, int]
    changes: dict[str, list[Row]] | None = None
    more: bool = True  # false when it found less than it could take: nothing is left to do


class Formed(NamedTuple):
    """What became a memory in a run."""

    memory_type: str
    about: str | None
    said_at: datetime
    vector: Vector
    words: str | None = None  # what it says, when its vector does not tell

    def can_be(self, other: "Formed") -> bool:
        """Whether the vectors of two can say that they are the same, or their words are."""
        return self.words == other.words


@dataclass(frozen=True, slots=True)
class ActiveRun:
    """A run that this worker is inside of."""

    graph: Graph
    tenant_id: str
    persona: Persona
    id: str
    worker: str
    as_of: datetime  # the run's own time: taken up later, it goes on as if it were then
    slept_at: datetime | None  # the time of the night before
    policy_version: int  # read before the policy: how often it has changed
    rescheduled_version: int  # up to which change every memory was looked at
    policy: Policy
    window: timedelta
    # By id, what this worker has made memories of. Vector indexes show only what is committed, and
    # a rehearsal commits nothing.
    formed: dict[str, Formed] = field(default_factory=dict)
    # The stages that are over and not written down yet, as maps {stage, told}.
    over: list[Row] = field(default_factory=list)

    @property
    def whose(self) -> Row:
        return {"tenant_id": self.tenant_id, "persona_id": self.persona.id}

    @property
    def drawn_before(self) -> datetime:
        """What was drawn later than this can still be edited, and is left alone."""
        return self.as_of - self.window

    async def step(self, stage: str, work: Work) -> bool:
        """Do one step as one transaction. Returns whether there may be more to do.

        What was told of stages that are over is written down by the next step there is.
        """
        over = list(self.over)

        async def inside(write: Write) -> bool:
            held = await write(
                "night/runs/renew_run",
                **self.whose,
                run_id=self.id,
                worker=self.worker,
                seconds=PERSONA_LEASE_SECONDS,
                over=over,
            )
            if not held:
                raise NightUnderWay(self.persona.id)
            done = await work(write, held[0]["place"])
            if done is None:
                return False
            await write(
                "night/runs/record_step",
                tenant_id=self.tenant_id,
                run_id=self.id,
                place=held[0]["place"],
                stage=stage,
                did=json.dumps(done.did, sort_keys=True),
                changes=None if done.changes is None else encode_changes(done.changes),
            )
            return done.more

        more = await self.graph.write_with(inside, name=f"step:{stage}")
        self.over.clear()
        return more


async def in_batches(
    run: ActiveRun,
    stage: str,
    batch: Batch,
    *,
    at_once: int,
    after: Callable[[], None] = lambda: None,
) -> int:
    """Do a stage in batches until nothing is left. Returns how many items were set aside.

    A batch that fails, or takes too long, is tried again in smaller ones. One item that fails alone
    is marked, left out from then on, and written down with the reason. `after` is called when a
    batch is committed, and only then.
    """
    limit, aside = at_once, 0
    more = True
    while more:
        try:
            more = await run.step(stage, of_size(batch, limit))
            after()
            limit = min(at_once, 4 * limit)
        except INDIGESTIBLE as error:
            if not await can_go_on(run, error):
                raise
            if limit == 1:
                if not await set_aside(run, stage, why=type(error).__name__):
                    raise
                aside += 1
            limit = max(1, limit // 8)
    return aside


def of_size(batch: Batch, limit: int) -> Work:
    async def work(write: Write, _: int) -> Step | None:
        return await batch(write, limit)

    return work


async def can_go_on(run: ActiveRun, error: Exception) -> bool:
    """Whether it was the work that failed, and not what the run stands on."""
    if isinstance(error, NightUnderWay) or isinstance(run.graph, PreviewGraph):
        return False  # in a rehearsal all is one transaction, which is over
    if isinstance(error, GraphTooSlow):
        try:
            await run.graph.read("store/setup/ping")
        except EngineError:
            return False
        return True
    return not isinstance(error, Unavailable)


async def set_aside(run: ActiveRun, stage: str, *, why: str) -> bool:
    """Set aside the first item that a stage would take. Returns whether there was one."""
    done: list[Row] = []

    async def first(write: Write, _: int) -> Step | None:
        done[:] = await write(
            SET_ASIDE[stage],
            **run.whose,
            **(
                {"drawn_before": run.drawn_before}
                if stage == "integrate"
                else {"awaits": AWAITS[stage]}
            ),
            as_of=run.as_of,
            why=why,
        )
        rows = [{**row, "why": why} for row in done]
        return Step({"set_aside": len(rows)}, {"set_aside": rows}) if rows else None

    await run.step(stage, first)
    return bool(done)


AWAITS = {"link": "links", "distil": "theme"}  # what the memories that a stage takes wait for
SET_ASIDE = {
    "integrate": "night/integration/set_aside_candidate",
    "link": "night/linking/set_aside_memory",
    "distil": "night/linking/set_aside_memory",
}


def similar_formed(
    embeddings: Sequence[Sequence[float]], formed: dict[str, Formed], *, floor: float
) -> list[dict[str, float]]:
    """For each embedding, what was formed in this run and is at least so near, by id."""
    if not formed or not embeddings:
        return [{} for _ in embeddings]
    ids = list(formed)
    there = np.stack([it.vector for it in formed.values()])
    cosines = np.asarray(embeddings, np.float32) @ there.T
    return [
        {ids[place]: as_similarity(row[place]) for place in np.flatnonzero(row >= floor - 1e-5)}
        for row in cosines
    ]


def as_similarity(cosine: float) -> float:
    """The same number, whether it was computed here or in the graph."""
    return round(float(cosine), 5)
