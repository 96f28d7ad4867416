"""Running a persona's night, or an hour's fading: once for its time, by one worker, to its end."""

import contextlib
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import structlog

from engine.access import PERSONA_LEASE_SECONDS, Persona, get_persona
from engine.errors import EngineError, NightUnderWay, PersonaNotFound
from engine.ids import new_id
from engine.memory import Change, changes_of
from engine.models import Row
from engine.night.capture import capture
from engine.night.checkpoints import checkpoints
from engine.night.distil import distil
from engine.night.fade import archive, decay, prune, reschedule, strengthen
from engine.night.integrate import integrate
from engine.night.ledger import Run, fold_ledger, get_run
from engine.night.link import link
from engine.night.steps import INDIGESTIBLE, ActiveRun, can_go_on
from engine.night.undo import undo_run
from engine.policy import next_night, night_of, read_policy
from engine.store import Graph

log = structlog.get_logger("nights")

STEP_SECONDS = 120.0  # one step may take this long; its statements touch thousands of nodes
REHEARSAL_SECONDS = 300.0
USES_KEPT = timedelta(days=7)  # a use told again within this time is not counted twice


@dataclass(frozen=True, slots=True)
class Stage:
    """One thing a run does to one persona. A run that is taken up again skips what is done."""

    name: str
    # Returns what it had to leave, counted by reason.
    run: Callable[[ActiveRun], Awaitable[dict[str, int]]]


# In the order of the night. The ladder goes before archiving, shapes between it and checkpoints.
NIGHT = (
    Stage("integrate", integrate),
    Stage("link", link),
    Stage("distil", distil),
    Stage("strengthen", strengthen),
    Stage("reschedule", reschedule),
    Stage("prune", prune),
    Stage("decay", decay),
    Stage("archive", archive),
    Stage("checkpoints", checkpoints),
)
# Between two nights, what is due to fade fades within the hour.
HOUR = tuple(stage for stage in NIGHT if stage.name in ("prune", "decay", "archive"))


async def run_night(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    *,
    now: datetime,
    started_by: str,
    stages: tuple[Stage, ...] = NIGHT,
) -> Run:
    """Run the newest night that has come for this persona. One that is over is not run again."""
    persona = await get_persona(graph, tenant_id, persona_id)
    hour = (await read_policy(graph, tenant_id, persona_id)).figures.consolidate_at
    night = {
        "kind": "night",
        "period": night_of(now, persona.time_zone, hour).isoformat(),
        "as_of": now,
        "started_by": started_by,
    }
    return await open_or_resume(graph, tenant_id, persona, night, {"night": stages, "hour": HOUR})


async def run_hour(
    graph: Graph, tenant_id: str, persona_id: str, *, now: datetime, started_by: str
) -> Run:
    """Let fade what is due to, once an hour. A night that was left open is gone on with first."""
    persona = await get_persona(graph, tenant_id, persona_id)
    hour = {
        "kind": "hour",
        "period": f"{now.astimezone(ZoneInfo(persona.time_zone)):%Y-%m-%dT%H%z}",
        "as_of": now,
        "started_by": started_by,
    }
    return await open_or_resume(graph, tenant_id, persona, hour, {"night": NIGHT, "hour": HOUR})


async def preview_night(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    *,
    now: datetime,
    stages: tuple[Stage, ...] = NIGHT,
) -> tuple[Run, list[Change]]:
    """What a night would do, exactly: it is run, told, and has never happened."""

    async def whole_night(rehearsal: Graph) -> tuple[Run, list[Change]]:
        run = await run_night(
            rehearsal, tenant_id, persona_id, now=now, started_by="rehearsal", stages=stages
        )
        rows = await rehearsal.read(
            "night/runs/list_steps", tenant_id=tenant_id, run_id=run.id, after=0, limit=1_000_000
        )
        return run, [change for row in rows for change in changes_of(row["step"])]

    run, changes = await graph.with_limit(REHEARSAL_SECONDS).preview(whole_night)
    return (run if run.state == "done_before" else replace(run, state="planned")), changes


async def open_or_resume(
    graph: Graph,
    tenant_id: str,
    persona: Persona,
    wanted: Row,
    stages: dict[str, tuple[Stage, ...]],
) -> Run:
    """Open a run, or go on with the one that was left open, and then open this one.

    A run goes through the stages of its own kind, whatever the job that goes on with it.
    """
    patient = graph.with_limit(STEP_SECONDS)
    while True:
        worker = new_id()
        found = await patient.write(
            "night/runs/begin_run",
            tenant_id=tenant_id,
            persona_id=persona.id,
            run={"id": new_id(), **wanted},
            worker=worker,
            seconds=PERSONA_LEASE_SECONDS,
        )
        if not found:
            raise PersonaNotFound(persona.id)
        (begun,) = found
        run = begun["run"]
        if begun["busy"]:
            raise NightUnderWay(persona.id)
        if run["state"] == "undoing":  # whoever took it back did not get to the end
            await undo_run(
                patient, tenant_id, run["id"], now=wanted["as_of"], undone_by=wanted["started_by"]
            )
            continue
        if run["state"] != "open":
            return replace(await get_run(graph, tenant_id, run["id"]), state="done_before")
        policy = await read_policy(patient, tenant_id, persona.id)
        in_hand = ActiveRun(
            graph=patient,
            tenant_id=tenant_id,
            persona=persona,
            id=run["id"],
            worker=worker,
            as_of=run["as_of"],
            slept_at=begun["slept_at"],
            policy_version=begun["policy_version"],
            rescheduled_version=begun["rescheduled_version"],
            policy=policy,
            window=timedelta(hours=policy.figures.editing_window_hours),
        )
        left = [stage for stage in stages[run["kind"]] if stage.name not in run["stages"]]
        hour = policy.figures.consolidate_at
        is_night = run["kind"] == "night"
        due = next_night(wanted["as_of"], persona.time_zone, hour) if is_night else None
        await execute_stages(in_hand, left, due)
        if run["period"] == wanted["period"]:
            return await get_run(graph, tenant_id, run["id"])


async def execute_stages(
    run: ActiveRun, stages: list[Stage], next_night_at: datetime | None
) -> None:
    try:
        for stage in stages:
            started = time.perf_counter()
            could_not = await attempt(stage, run)
            told = {
                "stage": stage.name,
                "seconds": round(time.perf_counter() - started, 4),
                "could_not": could_not,
            }
            run.over.append({"stage": stage.name, "told": json.dumps(told)})
        await run.graph.write(
            "memory/memories/delete_old_uses", **run.whose, before=run.as_of - USES_KEPT
        )
        finished = await run.graph.write(
            "night/runs/finish_run",
            **run.whose,
            run_id=run.id,
            worker=run.worker,
            finished_at=run.as_of,
            next_night_at=next_night_at,
            over=run.over,
            snapshot=json.dumps(await capture(run)),
        )
    except BaseException as error:
        with contextlib.suppress(EngineError):  # what went wrong first is what is told
            await run.graph.write(
                "night/runs/release_run",
                **run.whose,
                worker=run.worker,
                over=run.over,
                failure=type(error).__name__,
            )
        raise
    if not finished:  # it took longer than the lease, and another worker has it now
        raise NightUnderWay(run.persona.id)
    await fold_ledger(run.graph, run.tenant_id, run.persona.id, run.policy, now=run.as_of)


async def attempt(stage: Stage, run: ActiveRun) -> dict[str, int]:
    """Run a stage. One that fails for its own reasons leaves what is left to the next run."""
    try:
        return await stage.run(run)
    except INDIGESTIBLE as error:
        if not await can_go_on(run, error):
            raise
        why = type(error).__name__  # its message may quote what people wrote
        log.error("stage_stopped", stage=stage.name, persona_id=run.persona.id, why=why)
        return {f"stopped by {why}": 1}


async def claim_due_nights(graph: Graph, *, now: datetime, limit: int) -> list[tuple[str, str]]:
    """Tenant and persona of each night that has come and was not sent out yet."""
    rows = await graph.write(
        "night/runs/claim_due_nights", now=now, resend=PERSONA_LEASE_SECONDS, limit=limit
    )
    return [(row["tenant_id"], row["persona_id"]) for row in rows]


async def list_due_to_fade(graph: Graph, *, now: datetime, limit: int) -> list[tuple[str, str]]:
    """Tenant and persona wherever something is due to fade before the next night."""
    rows = await graph.read("night/runs/list_due_personas", now=now, limit=limit)
    return [(row["tenant_id"], row["persona_id"]) for row in rows]
