"""One step of a run: a transaction that changes memories and records how to undo that."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from engine.access import PERSONA_LEASE_SECONDS, Persona
from engine.embedding import Embedder, Vector
from engine.errors import EngineError, GraphTooSlow, NightUnderWay, Unavailable
from engine.memory import ShapePhraser, TemplatePhraser, as_logged, encode_changes, open_phraser
from engine.models import Row
from engine.policy import Policy
from engine.settings import Settings
from engine.store import Graph, PreviewGraph, Write

# Errors that one item or one batch can cause. A run leaves that out and continues.
RECOVERABLE_ERRORS = (
    EngineError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
)
BATCH_SHRINK, BATCH_GROWTH = 8, 4  # a failed batch is divided by 8, a good one multiplied by 4
COSINE_TOLERANCE = 1e-5  # float32 here and in the graph may differ by this much

StepWork = Callable[[Write, int], Awaitable["Step | None"]]  # takes the place of the step
BatchWork = Callable[[Write, int], Awaitable["Step | None"]]  # takes the most items it may process


@dataclass(frozen=True, slots=True)
class Step:
    """What a step did, in counts, and the changes that undo it.

    `changes` is None when the step's own statement has stored them.
    """

    did: dict[str, int]
    changes: dict[str, list[Row]] | None = None
    changed_ids: Sequence[str] = ()  # items that recall has to read again
    adds_items: bool = False  # whether some of these are new
    more: bool = True  # false when it got fewer items than its limit, so none are left


class FormedMemory(NamedTuple):
    """What is needed to compare a candidate with a memory that this run has formed."""

    memory_type: str
    about: str | None
    said_at: datetime
    vector: Vector
    fingerprint: str | None = None  # of its text, when its vector alone does not say what it is
    is_reliable: bool = True  # whether its vector tells its text from others
    passage_of: str | None = None  # id of the long message that it is a passage of

    def is_comparable(self, other: "FormedMemory") -> bool:
        """Whether the vectors of both decide, or those of neither and their texts are the same."""
        return self.fingerprint == other.fingerprint

    def is_beside(self, other: "FormedMemory") -> bool:
        """Whether both are passages of one message."""
        return self.passage_of is not None and self.passage_of == other.passage_of


@dataclass(frozen=True, slots=True)
class NightTools:
    """What a night needs besides the graph, to draw shapes."""

    embedder: Embedder
    phraser: ShapePhraser = field(default_factory=TemplatePhraser)


def open_night_tools(settings: Settings, embedder: Embedder) -> NightTools:
    """The tools that the settings name. The model is loaded when there is something to draw."""
    return NightTools(embedder, open_phraser(settings))


@dataclass(frozen=True, slots=True)
class ActiveRun:
    """A run whose lease this worker holds."""

    graph: Graph
    tenant_id: str
    persona: Persona
    id: str
    period: str  # the day, or the hour, in the persona's time zone
    worker: str
    as_of: datetime  # the run's own time: when it is resumed later, it continues as of then
    slept_at: datetime | None  # the time of the night before
    policy_version: int  # read before the policy: how often it has changed
    rescheduled_version: int  # up to which change every memory was rescheduled
    policy: Policy
    editing_window: timedelta
    tools: NightTools | None = None  # without them no shape is drawn; a later night draws it
    # The memories formed by this worker, by id. Vector indexes show only what is committed, and a
    # preview commits nothing.
    formed: dict[str, FormedMemory] = field(default_factory=dict)
    # Reports of finished stages that are not stored yet, as maps {stage, report: JSON}.
    finished_stages: list[Row] = field(default_factory=list)

    @property
    def persona_parameters(self) -> Row:
        """The parameters that name the persona in a statement."""
        return {"tenant_id": self.tenant_id, "persona_id": self.persona.id}

    @property
    def drawn_before(self) -> datetime:
        """Candidates drawn later than this can still be edited, and are left alone."""
        return self.as_of - self.editing_window

    def logged_ids(self, step: Step) -> list[str]:
        """What a step adds to the change log.

        A preview adds nothing: it is rolled back, and would hold the log's lock until then.
        """
        return [] if isinstance(self.graph, PreviewGraph) else as_logged(step.changed_ids)

    async def step(self, stage: str, work: StepWork) -> bool:
        """Run one step as one transaction. Returns whether there may be more to do.

        Renews the lease, and stores the reports of the stages finished before it.
        """
        finished_stages = list(self.finished_stages)

        async def run_step(write: Write) -> bool:
            lease = await write(
                "night/runs/renew_run",
                **self.persona_parameters,
                run_id=self.id,
                worker=self.worker,
                seconds=PERSONA_LEASE_SECONDS,
                finished_stages=finished_stages,
            )
            if not lease:
                raise NightUnderWay(self.persona.id)
            place = lease[0]["place"]
            step = await work(write, place)
            if step is None:
                return False
            await write(
                "night/runs/record_step",
                **self.persona_parameters,
                run_id=self.id,
                place=place,
                stage=stage,
                did=json.dumps(step.did, sort_keys=True),
                changes=None if step.changes is None else encode_changes(step.changes),
                changed_ids=self.logged_ids(step),
                content=step.adds_items,
            )
            return step.more

        more = await self.graph.write_with(run_step, name=f"step:{stage}")
        self.finished_stages.clear()
        return more


async def run_in_batches(
    run: ActiveRun,
    stage: str,
    work: BatchWork,
    *,
    batch_size: int,
    on_commit: Callable[[], None] = lambda: None,
) -> int:
    """Run a stage in batches until nothing is left. Returns how many items were set aside.

    A batch that fails, or takes too long, is retried in smaller ones. An item that fails alone is
    set aside: no later batch takes it, and the reason is recorded. `on_commit` is called after each
    batch that was committed.
    """
    limit, set_aside = batch_size, 0
    more = True
    while more:
        try:
            more = await run.step(stage, limited(work, limit))
            on_commit()
            limit = min(batch_size, BATCH_GROWTH * limit)
        except RECOVERABLE_ERRORS as error:
            if not await is_recoverable(run, error):
                raise
            if limit == 1:
                if not await set_first_item_aside(run, stage, reason=type(error).__name__):
                    raise
                set_aside += 1
            limit = max(1, limit // BATCH_SHRINK)
    return set_aside


def limited(work: BatchWork, limit: int) -> StepWork:
    """A step that processes one batch of at most `limit` items."""

    async def step_work(write: Write, _: int) -> Step | None:
        return await work(write, limit)

    return step_work


async def is_recoverable(run: ActiveRun, error: Exception) -> bool:
    """Whether the run can continue: the work failed, and not the graph or the lease."""
    if isinstance(error, NightUnderWay) or isinstance(run.graph, PreviewGraph):
        return False  # a preview is one transaction, which has ended with the error
    if isinstance(error, GraphTooSlow):
        try:
            await run.graph.read("store/setup/ping")
        except EngineError:
            return False
        return True
    return not isinstance(error, Unavailable)


SET_ASIDE_STATEMENTS = {
    "integrate": "night/integration/set_aside_candidate",
    "link": "night/linking/set_aside_memory",
    "distil": "night/linking/set_aside_memory",
}
AWAITED_BY = {"link": "links", "distil": "theme"}  # `awaits` of the memories that a stage takes


async def set_first_item_aside(run: ActiveRun, stage: str, *, reason: str) -> bool:
    """Set aside the first item that a stage would take. Returns whether there was one."""
    items: list[Row] = []
    selection: Row = (
        {"drawn_before": run.drawn_before}
        if stage == "integrate"
        else {"awaits": AWAITED_BY[stage]}
    )

    async def set_aside(write: Write, _: int) -> Step | None:
        items[:] = await write(
            SET_ASIDE_STATEMENTS[stage],
            **run.persona_parameters,
            **selection,
            as_of=run.as_of,
            why=reason,
        )
        changes = [{**item, "why": reason} for item in items]
        return Step({"set_aside": len(changes)}, {"set_aside": changes}) if changes else None

    await run.step(stage, set_aside)
    return bool(items)


def similar_formed(
    embeddings: Sequence[Sequence[float]],
    formed: dict[str, FormedMemory],
    *,
    min_similarity: float,
    most: int | None = None,
) -> list[dict[str, float]]:
    """For each embedding, the similarities of the formed memories that are near enough, by id.

    With `most`, only that many of the nearest, and what is as near as the last of them.
    """
    if not formed or not embeddings:
        return [{} for _ in embeddings]
    ids = list(formed)
    vectors = np.stack([memory.vector for memory in formed.values()])
    cosines = np.asarray(embeddings, np.float32) @ vectors.T
    if most is not None and most < len(ids):
        least = np.partition(cosines, -most, axis=1)[:, -most] - COSINE_TOLERANCE
        cosines[cosines < least[:, None]] = -1.0
    return [
        {
            ids[column]: round_similarity(row[column])
            for column in np.flatnonzero(row >= min_similarity - COSINE_TOLERANCE)
        }
        for row in cosines
    ]


def round_similarity(cosine: float) -> float:
    """A cosine rounded so that it is the same, computed here or in the graph."""
    return round(float(cosine), 5)
