"""The night: what is done to a persona's memory, one stage after another, once a day."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from engine.errors import NightUnderWay
from engine.graph import Graph
from engine.hours import next_night, night_of
from engine.models import Night, Persona, new_id
from engine.personas import get_persona

LEASE = 900  # seconds a silent worker keeps its night; longer than a job may take


@dataclass(frozen=True, slots=True)
class Stage:
    """One thing a night does to one persona. Safe to run twice."""

    name: str
    run: Callable[[Graph, Persona, datetime], Awaitable[None]]


STAGES: tuple[Stage, ...] = ()


async def run_night(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    *,
    now: datetime,
    consolidate_at: str,
    started_by: str,
    dry_run: bool = False,
    stages: tuple[Stage, ...] = STAGES,
) -> Night:
    """Run the newest night that has come for this persona. One that is over is not run again."""
    persona = await get_persona(graph, tenant_id, persona_id)
    day = night_of(now, persona.time_zone, consolidate_at)
    names = [stage.name for stage in stages]
    if dry_run:
        return Night(tenant_id, persona_id, day, "planned", names)

    night = {"tenant_id": tenant_id, "persona_id": persona_id, "day": day, "worker": new_id()}
    (answer,) = await graph.write(
        "nights/begin_night", **night, started_by=started_by, started_at=now, seconds=LEASE
    )
    if answer["finished_at"]:
        return Night(tenant_id, persona_id, day, "done_before", [])
    if not answer["mine"]:
        raise NightUnderWay(persona_id)
    try:
        for stage in stages:
            await stage.run(graph, persona, now)
    except BaseException:
        await graph.write("nights/leave_night", **night)
        raise
    finished = await graph.write(
        "nights/finish_night",
        **night,
        stages=names,
        finished_at=now,
        next_night_at=next_night(now, persona.time_zone, consolidate_at),
    )
    if not finished:  # it took longer than the lease, and another worker has it now
        raise NightUnderWay(persona_id)
    return Night(tenant_id, persona_id, day, "done", names)


async def claim_nights(graph: Graph, *, now: datetime, limit: int) -> list[tuple[str, str]]:
    """Tenant and persona of each night that has come and was not sent out yet."""
    rows = await graph.write("nights/claim_due", now=now, resend=LEASE, limit=limit)
    return [(row["tenant_id"], row["persona_id"]) for row in rows]
