"""Running a persona's night, or the fading of an hour: once for each period, by one worker."""

import contextlib
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import structlog

from engine.access import PERSONA_LEASE_SECONDS, Persona, get_persona
from engine.errors import EngineError, NightUnderWay, PersonaNotFound
from engine.ids import new_id
from engine.memory import Change, changes_of, delete_old_changes
from engine.models import Row
from engine.night.capture import capture
from engine.night.checkpoints import checkpoints
from engine.night.distil import distil
from engine.night.fade import archive, decay, prune, reschedule, strengthen
from engine.night.integrate import integrate
from engine.night.ledger import Run, fold_ledger, get_run
from engine.night.link import link
from engine.night.shapes import shapes
from engine.night.steps import RECOVERABLE_ERRORS, ActiveRun, NightTools, is_recoverable
from engine.night.undo import undo_run
from engine.policy import next_night, night_of, read_policy
from engine.store import Graph

log = structlog.get_logger("nights")

STEP_SECONDS = 120.0  # one step may take this long; its statements touch thousands of nodes
PREVIEW_SECONDS = 300.0
PREVIEW_MAX_STEPS = 1_000_000
USES_KEPT = timedelta(days=7)  # a use that is sent again within this time is not counted twice


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of a run. A run that is resumed skips the stages that have finished."""

    name: str
    # Returns how many items it had to leave, by reason.
    run: Callable[[ActiveRun], Awaitable[dict[str, int]]]


# In the order of the night. The ladder goes before archiving.
NIGHT = (
    Stage("integrate", integrate),
    Stage("link", link),
    Stage("distil", distil),
    Stage("strengthen", strengthen),
    Stage("reschedule", reschedule),
    Stage("prune", prune),
    Stage("decay", decay),
    Stage("archive", archive),
    Stage("shapes", shapes),
    Stage("checkpoints", checkpoints),
)
# Between two nights, what is due to fade fades within the hour.
HOUR = tuple(stage for stage in NIGHT if stage.name in ("prune", "decay", "archive"))


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The run that a caller asks for."""

    kind: str  # night, hour
    period: str  # the day, or the hour, in the persona's time zone
    as_of: datetime
    started_by: str


async def run_night(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    *,
    now: datetime,
    started_by: str,
    stages: tuple[Stage, ...] = NIGHT,
    tools: NightTools | None = None,
) -> Run:
    """Run the newest night that is due for this persona. One that is done is not run again.

    Without `tools` no shape is drawn: what was archived waits for a night that has them.
    """
    persona = await get_persona(graph, tenant_id, persona_id)
    hour = (await read_policy(graph, tenant_id, persona_id)).figures.consolidate_at
    period = night_of(now, persona.time_zone, hour).isoformat()
    request = RunRequest("night", period, now, started_by)
    return await open_or_resume(
        graph, tenant_id, persona, request, {"night": stages, "hour": HOUR}, tools
    )


async def run_hour(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    *,
    now: datetime,
    started_by: str,
    tools: NightTools | None = None,
) -> Run:
    """Fade what is due, once an hour. A night that was left open is resumed first."""
    persona = await get_persona(graph, tenant_id, persona_id)
    period = f"{now.astimezone(ZoneInfo(persona.time_zone)):%Y-%m-%dT%H%z}"
    request = RunRequest("hour", period, now, started_by)
    return await open_or_resume(
        graph, tenant_id, persona, request, {"night": NIGHT, "hour": HOUR}, tools
    )


async def preview_night(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    *,
    now: datetime,
    stages: tuple[Stage, ...] = NIGHT,
    tools: NightTools | None = None,
) -> tuple[Run, list[Change]]:
    """The run that a night would be, and its changes. It is run in full and rolled back."""

    async def run_and_read(preview: Graph) -> tuple[Run, list[Change]]:
        run = await run_night(
            preview,
            tenant_id,
            persona_id,
            now=now,
            started_by="preview",
            stages=stages,
            tools=tools,
        )
        rows = await preview.read(
            "night/runs/list_steps",
            tenant_id=tenant_id,
            run_id=run.id,
            after=0,
            limit=PREVIEW_MAX_STEPS,
        )
        return run, [change for row in rows for change in changes_of(row["step"])]

    run, changes = await graph.with_limit(PREVIEW_SECONDS).preview(run_and_read)
    return (run if run.state == "done_before" else replace(run, state="planned")), changes


async def open_or_resume(
    graph: Graph,
    tenant_id: str,
    persona: Persona,
    request: RunRequest,
    stages: dict[str, tuple[Stage, ...]],
    tools: NightTools | None,
) -> Run:
    """Execute the requested run, after resuming any run of the persona that was left open.

    A resumed run goes through the stages of its own kind, whatever kind is requested.
    """
    limited = graph.with_limit(STEP_SECONDS)
    while True:
        worker = new_id()
        begun = await begin_run(limited, tenant_id, persona, request, worker)
        stored = begun["run"]
        if stored["state"] == "undoing":  # the worker that was undoing it did not finish
            await undo_run(
                limited, tenant_id, stored["id"], now=request.as_of, undone_by=request.started_by
            )
            continue
        if stored["state"] != "open":
            return replace(await get_run(graph, tenant_id, stored["id"]), state="done_before")
        run = await load_run(limited, tenant_id, persona, worker, begun, tools)
        remaining = [
            stage for stage in stages[stored["kind"]] if stage.name not in stored["stages"]
        ]
        hour = run.policy.figures.consolidate_at
        is_night = stored["kind"] == "night"
        next_night_at = next_night(request.as_of, persona.time_zone, hour) if is_night else None
        await execute_stages(run, remaining, next_night_at)
        if stored["period"] == request.period:
            return await get_run(graph, tenant_id, stored["id"])


async def begin_run(
    graph: Graph, tenant_id: str, persona: Persona, request: RunRequest, worker: str
) -> Row:
    """Open the requested run, or take over the persona's open run; see the statement's header.

    An open run comes before the requested one. Refused while another worker holds the lease.
    """
    rows = await graph.write(
        "night/runs/begin_run",
        tenant_id=tenant_id,
        persona_id=persona.id,
        run={"id": new_id(), **asdict(request)},
        worker=worker,
        seconds=PERSONA_LEASE_SECONDS,
    )
    if not rows:
        raise PersonaNotFound(persona.id)
    if rows[0]["busy"]:
        raise NightUnderWay(persona.id)
    return rows[0]


async def load_run(
    graph: Graph,
    tenant_id: str,
    persona: Persona,
    worker: str,
    begun: Row,
    tools: NightTools | None,
) -> ActiveRun:
    """The run that `begin_run` opened or took over, with the policy that applies now."""
    policy = await read_policy(graph, tenant_id, persona.id)
    return ActiveRun(
        graph=graph,
        tenant_id=tenant_id,
        persona=persona,
        id=begun["run"]["id"],
        period=begun["run"]["period"],
        worker=worker,
        as_of=begun["run"]["as_of"],
        slept_at=begun["slept_at"],
        policy_version=begun["policy_version"],
        rescheduled_version=begun["rescheduled_version"],
        policy=policy,
        editing_window=timedelta(hours=policy.figures.editing_window_hours),
        tools=tools,
    )


async def execute_stages(
    run: ActiveRun, stages: list[Stage], next_night_at: datetime | None
) -> None:
    """Execute the stages and finish the run. An error releases the lease for the next attempt."""
    try:
        for stage in stages:
            await execute_stage(run, stage)
        await run.graph.write(
            "memory/memories/delete_old_uses",
            **run.persona_parameters,
            before=run.as_of - USES_KEPT,
        )
        await delete_old_changes(run.graph, run.persona_parameters)
        finished = await run.graph.write(
            "night/runs/finish_run",
            **run.persona_parameters,
            run_id=run.id,
            worker=run.worker,
            finished_at=run.as_of,
            next_night_at=next_night_at,
            finished_stages=run.finished_stages,
            snapshot=json.dumps(await capture(run)),
        )
    except BaseException as error:
        with contextlib.suppress(EngineError):  # the first error is the one to report
            await run.graph.write(
                "night/runs/release_run",
                **run.persona_parameters,
                worker=run.worker,
                finished_stages=run.finished_stages,
                failure=type(error).__name__,
            )
        raise
    if not finished:  # it took longer than the lease, and another worker has it now
        raise NightUnderWay(run.persona.id)
    await fold_ledger(run.graph, run.tenant_id, run.persona.id, run.policy, now=run.as_of)


async def execute_stage(run: ActiveRun, stage: Stage) -> None:
    """Execute one stage, and add its report to those that the next step stores."""
    started = time.perf_counter()
    could_not = await attempt(stage, run)
    report = {
        "stage": stage.name,
        "seconds": round(time.perf_counter() - started, 4),
        "could_not": could_not,
    }
    run.finished_stages.append({"stage": stage.name, "report": json.dumps(report)})


async def attempt(stage: Stage, run: ActiveRun) -> dict[str, int]:
    """Run a stage. Returns what it had to leave; a recoverable error counts as one such thing."""
    try:
        return await stage.run(run)
    except RECOVERABLE_ERRORS as error:
        if not await is_recoverable(run, error):
            raise
        why = type(error).__name__  # its message may quote what people wrote
        log.error("stage_stopped", stage=stage.name, persona_id=run.persona.id, why=why)
        return {f"stopped by {why}": 1}


async def claim_due_nights(graph: Graph, *, now: datetime, limit: int) -> list[tuple[str, str]]:
    """Tenant and persona of each night that is due and has no job yet. They count as sent."""
    rows = await graph.write(
        "night/runs/claim_due_nights", now=now, resend=PERSONA_LEASE_SECONDS, limit=limit
    )
    return [(row["tenant_id"], row["persona_id"]) for row in rows]


async def list_due_to_fade(graph: Graph, *, now: datetime, limit: int) -> list[tuple[str, str]]:
    """Tenant and persona wherever something is due to fade before the next night."""
    rows = await graph.read("night/runs/list_due_personas", now=now, limit=limit)
    return [(row["tenant_id"], row["persona_id"]) for row in rows]
