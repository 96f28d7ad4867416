"""Running a persona's night, or an hour's fading: once for its time, by one worker, to its end."""

import contextlib
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from engine.errors import EngineError, NightUnderWay, PersonaNotFound
from engine.graph import Graph, Row
from engine.hours import next_night, night_of
from engine.models import Persona, new_id
from engine.night.capture import capture
from engine.night.distil import distil
from engine.night.fade import archive, decay, prune, reckon, strengthen
from engine.night.integrate import integrate
from engine.night.ledger import Change, Run, changes_of, get_run
from engine.night.link import link
from engine.night.steps import LEASE, RunInHand
from engine.night.undo import undo_run
from engine.personas import get_persona
from engine.policy import read_policy

STEP_SECONDS = 120.0  # one step may take this long; its statements touch thousands of nodes
REHEARSAL_SECONDS = 300.0
USES_KEPT = timedelta(days=7)  # a use told again within this time is not counted twice


@dataclass(frozen=True, slots=True)
class Stage:
    """One thing a run does to one persona. A run that is taken up again skips what is done."""

    name: str
    # Returns what it had to leave, counted by reason.
    run: Callable[[RunInHand], Awaitable[dict[str, int]]]


# In the order of the night. The ladder goes before archiving, shapes and checkpoints after it.
NIGHT = (
    Stage("integrate", integrate),
    Stage("link", link),
    Stage("distil", distil),
    Stage("strengthen", strengthen),
    Stage("reckon", reckon),
    Stage("prune", prune),
    Stage("decay", decay),
    Stage("archive", archive),
)
# Between two nights, what is due to fade fades within the hour.
HOUR = tuple(stage for stage in NIGHT if stage.name in ("prune", "decay", "archive"))


async def run_night(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    *,
    now: datetime,
    consolidate_at: str,
    window: timedelta,
    started_by: str,
    stages: tuple[Stage, ...] = NIGHT,
) -> Run:
    """Run the newest night that has come for this persona. One that is over is not run again."""
    persona = await get_persona(graph, tenant_id, persona_id)
    night = {
        "kind": "night",
        "period": night_of(now, persona.time_zone, consolidate_at).isoformat(),
        "as_of": now,
        "started_by": started_by,
    }
    due = next_night(now, persona.time_zone, consolidate_at)
    return await run_through(graph, tenant_id, persona, night, stages, window, due)


async def fade_hour(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    *,
    now: datetime,
    window: timedelta,
    started_by: str,
) -> Run:
    """Let fade what is due to, once an hour."""
    persona = await get_persona(graph, tenant_id, persona_id)
    hour = {
        "kind": "hour",
        "period": f"{now.astimezone(ZoneInfo(persona.time_zone)):%Y-%m-%dT%H%z}",
        "as_of": now,
        "started_by": started_by,
    }
    return await run_through(graph, tenant_id, persona, hour, HOUR, window, None)


async def rehearse_night(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    *,
    now: datetime,
    consolidate_at: str,
    window: timedelta,
    stages: tuple[Stage, ...] = NIGHT,
) -> tuple[Run, list[Change]]:
    """What a night would do, exactly: it is run, told, and has never happened."""
    async with graph.with_limit(REHEARSAL_SECONDS).rehearsal() as rehearsal:
        run = await run_night(
            rehearsal,
            tenant_id,
            persona_id,
            now=now,
            consolidate_at=consolidate_at,
            window=window,
            started_by="rehearsal",
            stages=stages,
        )
        rows = await rehearsal.read(
            "runs/list_steps", tenant_id=tenant_id, run_id=run.id, after=0, limit=1_000_000
        )
        changes = [change for row in rows for change in changes_of(row["step"])]
    return (run if run.state == "done_before" else replace(run, state="planned")), changes


async def run_through(
    graph: Graph,
    tenant_id: str,
    persona: Persona,
    wanted: Row,
    stages: tuple[Stage, ...],
    window: timedelta,
    next_night_at: datetime | None,
) -> Run:
    """Open a run, or go on with the one that was left open, and then open this one."""
    patient = graph.with_limit(STEP_SECONDS)
    while True:
        worker = new_id()
        found = await patient.write(
            "runs/begin_run",
            tenant_id=tenant_id,
            persona_id=persona.id,
            run={"id": new_id(), **wanted},
            worker=worker,
            seconds=LEASE,
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
        in_hand = RunInHand(
            graph=patient,
            tenant_id=tenant_id,
            persona=persona,
            id=run["id"],
            worker=worker,
            as_of=run["as_of"],
            slept_at=begun["slept_at"],
            reckon=begun["reckon"],
            policy=await read_policy(patient, tenant_id, persona.id),
            window=window,
        )
        left = [
            stage
            for stage in (HOUR if run["kind"] == "hour" else stages)
            if stage.name not in run["stages"]
        ]
        await go_through(in_hand, left, next_night_at if run["kind"] == "night" else None)
        if run["period"] == wanted["period"]:
            return await get_run(graph, tenant_id, run["id"])


async def go_through(run: RunInHand, stages: list[Stage], next_night_at: datetime | None) -> None:
    try:
        for stage in stages:
            started = time.perf_counter()
            could_not = await stage.run(run)
            told = {
                "stage": stage.name,
                "seconds": round(time.perf_counter() - started, 4),
                "could_not": could_not,
            }
            run.over.append({"stage": stage.name, "told": json.dumps(told)})
        await run.graph.write("memories/sweep_uses", **run.whose, before=run.as_of - USES_KEPT)
        finished = await run.graph.write(
            "runs/finish_run",
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
                "runs/leave_run",
                **run.whose,
                worker=run.worker,
                over=run.over,
                failure=type(error).__name__,
            )
        raise
    if not finished:  # it took longer than the lease, and another worker has it now
        raise NightUnderWay(run.persona.id)


async def claim_nights(graph: Graph, *, now: datetime, limit: int) -> list[tuple[str, str]]:
    """Tenant and persona of each night that has come and was not sent out yet."""
    rows = await graph.write("runs/claim_due_nights", now=now, resend=LEASE, limit=limit)
    return [(row["tenant_id"], row["persona_id"]) for row in rows]


async def due_to_fade(graph: Graph, *, now: datetime, limit: int) -> list[tuple[str, str]]:
    """Tenant and persona wherever something is due to fade before the next night."""
    rows = await graph.read("runs/list_due_personas", now=now, limit=limit)
    return [(row["tenant_id"], row["persona_id"]) for row in rows]
