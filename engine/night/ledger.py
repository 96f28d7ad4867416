"""The ledger: reading runs, their stages and the changes they made."""

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

AFTER_ALL_IDS = "\uffff"
STEPS_PER_PAGE = 20
FOLD_BATCH = 50  # runs; two days of hours and nights, so that what is due is folded in time


@dataclass(frozen=True, slots=True)
class StageReport:
    """The result of one stage of a run."""

    stage: str
    seconds: float | None  # null until it has finished
    did: dict[str, int]
    could_not: dict[str, int]  # how many items it had to leave, by reason


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
    folded_at: datetime | None = None  # since then only counts are kept, and it cannot be undone
    failures: list[str] | None = None
    snapshot: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The persona at the end of one run."""

    run_id: str
    kind: str
    as_of: datetime
    states: dict[str, dict[str, int]]  # how many memories and candidates, by state and type
    importance: list[int]  # active memories, from 1 to 10
    salience: list[int]  # active memories, by tenths
    feeling: dict[str, float | None]  # of somatic memories: how many, mean valence and arousal
    pinned: int
    minimized: int


async def list_runs(
    graph: Graph, tenant_id: str, persona_id: str, *, cursor: str | None, limit: int
) -> Page[Run]:
    """A page of a persona's runs, the newest first."""
    await get_persona(graph, tenant_id, persona_id)
    rows = await graph.read(
        "night/runs/list_runs",
        tenant_id=tenant_id,
        persona_id=persona_id,
        before=decode_id(cursor) or AFTER_ALL_IDS,
        limit=limit + 1,
    )
    return make_page([as_run(row["run"]) for row in rows], limit, lambda run: run.id)


async def list_snapshots(
    graph: Graph, tenant_id: str, persona_id: str, *, cursor: str | None, limit: int
) -> Page[Snapshot]:
    """The snapshots of a page of a persona's runs, the newest first."""
    runs = await list_runs(graph, tenant_id, persona_id, cursor=cursor, limit=limit)
    snapshots = [
        Snapshot(run.id, run.kind, run.as_of, **run.snapshot) for run in runs.items if run.snapshot
    ]
    return Page(snapshots, runs.next_cursor)


async def get_run(graph: Graph, tenant_id: str, run_id: str) -> Run:
    rows = await graph.read("night/runs/get_run", tenant_id=tenant_id, run_id=run_id)
    if not rows:
        raise RunNotFound(run_id)
    return as_run(rows[0]["run"])


async def list_changes(
    graph: Graph,
    tenant_id: str,
    run_id: str,
    *,
    cursor: str | None = None,
    limit: int | None = None,
) -> Page[Change]:
    """A page of the changes of a run, in the order it made them. The limit counts steps."""
    await get_run(graph, tenant_id, run_id)
    page_size = limit or STEPS_PER_PAGE
    rows = await graph.read(
        "night/runs/list_steps",
        tenant_id=tenant_id,
        run_id=run_id,
        after=decode_place(cursor),
        limit=page_size + 1,
    )
    steps = make_page([row["step"] for row in rows], page_size, lambda step: str(step["place"]))
    changes = [change for step in steps.items for change in changes_of(step)]
    return Page(changes, steps.next_cursor)


async def fold_ledger(
    graph: Graph, tenant_id: str, persona_id: str, policy: Policy, *, now: datetime
) -> int:
    """Replace the steps of runs older than the policy's ledger_days by counts.

    Returns how many runs were folded.
    """
    rows = await graph.read(
        "night/runs/list_foldable_runs",
        tenant_id=tenant_id,
        persona_id=persona_id,
        before=now - timedelta(days=policy.figures.ledger_days),
        limit=FOLD_BATCH,
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
    """The counts of what steps did, added up for each stage."""
    totals: dict[str, dict[str, int]] = {}
    for step in steps:
        counts = totals.setdefault(step["stage"], {})
        for name, count in json.loads(step["did"]).items():
            counts[name] = counts.get(name, 0) + count
    return totals


def stage_reports(stored: Row) -> list[StageReport]:
    """The reports of a run's finished stages in their order, then of those still under way."""
    folded = stored.get("folded")
    counts = json.loads(folded) if folded else counts_by_stage(stored["did"])
    reports = {report["stage"]: report for report in map(json.loads, stored.get("reports") or [])}
    unfinished = [name for name in counts if name not in stored["stages"]]
    return [
        StageReport(
            name,
            reports.get(name, {}).get("seconds"),
            counts.get(name, {}),
            reports.get(name, {}).get("could_not", {}),
        )
        for name in [*stored["stages"], *unfinished]
    ]


def as_run(stored: Row) -> Run:
    """A run from its stored properties."""
    stages = stage_reports(stored)
    durations = [stage.seconds for stage in stages if stage.seconds is not None]
    return Run(
        id=stored["id"],
        persona_id=stored["persona_id"],
        kind=stored["kind"],
        period=stored["period"],
        state=stored["state"],
        as_of=stored["as_of"],
        started_by=stored["started_by"],
        stages=stages,
        seconds=round(sum(durations), 3) if durations else None,
        finished_at=stored.get("finished_at"),
        undone_at=stored.get("undone_at"),
        undone_by=stored.get("undone_by"),
        folded_at=stored.get("folded_at"),
        failures=stored.get("failures"),
        snapshot=json.loads(stored["snapshot"]) if stored.get("snapshot") else None,
    )
