"""The ledger: every run, stage by stage, and every change it made."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from engine.access import get_persona
from engine.errors import RunNotFound
from engine.memory import Change, changes_of
from engine.models import Row
from engine.policy import Policy
from engine.store import Graph, Page, decode_id, decode_place, make_page

LAST = "\uffff"  # after every id
STEPS_AT_ONCE = 20
FOLDED_AT_ONCE = 50  # runs; two days of hours and nights, so that what is due is folded in time


@dataclass(frozen=True, slots=True)
class StageReport:
    """What one stage of a run came to."""

    stage: str
    seconds: float | None  # null while it is not over
    did: dict[str, int]
    could_not: dict[str, int]  # by reason, how much it had to leave


@dataclass(frozen=True, slots=True)
class Run:
    """One night, or one hour's fading, of one persona."""

    id: str
    persona_id: str
    kind: str  # night, hour
    period: str  # the day, or the hour, in the persona's own time zone
    state: str  # planned, open, done, undoing, undone
    as_of: datetime  # the time it was run for
    started_by: str
    stages: list[StageReport]
    seconds: float | None
    finished_at: datetime | None = None
    undone_at: datetime | None = None
    undone_by: str | None = None
    folded_at: datetime | None = None  # its steps are counts since; it cannot be taken back
    failures: list[str] | None = None
    snapshot: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The persona as one run left it."""

    run_id: str
    kind: str
    as_of: datetime
    states: dict[str, dict[str, int]]  # how many, per state and type
    importance: list[int]  # active memories, from 1 to 10
    salience: list[int]  # active memories, by tenths
    feeling: dict[str, float | None]  # of its somatic memories: how many, mean valence and arousal
    pinned: int
    minimized: int


async def list_runs(
    graph: Graph, tenant_id: str, persona_id: str, *, cursor: str | None, limit: int
) -> Page[Run]:
    """A persona's runs, the newest first."""
    await get_persona(graph, tenant_id, persona_id)
    rows = await graph.read(
        "night/runs/list_runs",
        tenant_id=tenant_id,
        persona_id=persona_id,
        before=decode_id(cursor) or LAST,
        limit=limit + 1,
    )
    return make_page([as_run(row["run"]) for row in rows], limit, lambda run: run.id)


async def list_snapshots(
    graph: Graph, tenant_id: str, persona_id: str, *, cursor: str | None, limit: int
) -> Page[Snapshot]:
    """The persona as its runs left it, the newest first."""
    runs = await list_runs(graph, tenant_id, persona_id, cursor=cursor, limit=limit)
    taken = [
        Snapshot(run.id, run.kind, run.as_of, **run.snapshot) for run in runs.items if run.snapshot
    ]
    return Page(taken, runs.next_cursor)


async def get_run(graph: Graph, tenant_id: str, run_id: str) -> Run:
    found = await graph.read("night/runs/get_run", tenant_id=tenant_id, run_id=run_id)
    if not found:
        raise RunNotFound(run_id)
    return as_run(found[0]["run"])


async def list_changes(
    graph: Graph,
    tenant_id: str,
    run_id: str,
    *,
    cursor: str | None = None,
    limit: int | None = None,
) -> Page[Change]:
    """What a run changed, in the order it did, some steps at a time."""
    await get_run(graph, tenant_id, run_id)
    size = limit or STEPS_AT_ONCE
    rows = await graph.read(
        "night/runs/list_steps",
        tenant_id=tenant_id,
        run_id=run_id,
        after=decode_place(cursor),
        limit=size + 1,
    )
    steps = make_page([row["step"] for row in rows], size, lambda step: str(step["place"]))
    return Page([it for step in steps.items for it in changes_of(step)], steps.next_cursor)


async def fold_ledger(
    graph: Graph, tenant_id: str, persona_id: str, policy: Policy, *, now: datetime
) -> int:
    """Fold the steps of runs that are kept no longer to counts. Returns of how many runs."""
    rows = await graph.read(
        "night/runs/list_foldable_runs",
        tenant_id=tenant_id,
        persona_id=persona_id,
        before=now - timedelta(days=policy.figures.ledger_days),
        limit=FOLDED_AT_ONCE,
    )
    for row in rows:
        await graph.write(
            "night/runs/fold_run",
            tenant_id=tenant_id,
            persona_id=persona_id,
            run_id=row["run"]["id"],
            folded=json.dumps(counts_by_stage(row["run"]["did"]), sort_keys=True),
            folded_at=now,
        )
    return len(rows)


def counts_by_stage(steps: Sequence[Row]) -> dict[str, dict[str, int]]:
    """What the steps of a run did, added up."""
    counted: dict[str, dict[str, int]] = {}
    for step in steps:
        counts = counted.setdefault(step["stage"], {})
        for name, count in json.loads(step["did"]).items():
            counts[name] = counts.get(name, 0) + count
    return counted


def as_run(stored: Row) -> Run:
    counted = counts_by_stage(stored["did"])
    if stored.get("folded"):
        counted = json.loads(stored["folded"])
    told = {it["stage"]: it for it in map(json.loads, stored.get("told") or [])}
    stages = [
        StageReport(
            name,
            told.get(name, {}).get("seconds"),
            counted.get(name, {}),
            told.get(name, {}).get("could_not", {}),
        )
        for name in [*stored["stages"], *(it for it in counted if it not in stored["stages"])]
    ]
    times = [stage.seconds for stage in stages if stage.seconds is not None]
    return Run(
        id=stored["id"],
        persona_id=stored["persona_id"],
        kind=stored["kind"],
        period=stored["period"],
        state=stored["state"],
        as_of=stored["as_of"],
        started_by=stored["started_by"],
        stages=stages,
        seconds=round(sum(times), 3) if times else None,
        finished_at=stored.get("finished_at"),
        undone_at=stored.get("undone_at"),
        undone_by=stored.get("undone_by"),
        folded_at=stored.get("folded_at"),
        failures=stored.get("failures"),
        snapshot=json.loads(stored["snapshot"]) if stored.get("snapshot") else None,
    )
