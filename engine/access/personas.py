"""Personas: added, read, listed and changed."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

from engine.access.models import Persona, Tone
from engine.errors import IdTaken, NotFound, PersonaNotFound
from engine.models import Row
from engine.policy import check_time_zone, next_night, read_policy, read_tenant_figures
from engine.store import OPERATOR, Graph, Page, audit_record, decode_id, make_page

# How long a run or a copy holds its persona without renewing it; longer than a job may take.
PERSONA_LEASE_SECONDS = 900


async def add_persona(
    graph: Graph, tenant_id: str, persona: Persona, *, by: str = OPERATOR
) -> Persona:
    """Add a persona. The same one given again, with the same id, returns the first."""
    check_time_zone(persona.time_zone)
    hour = (await read_tenant_figures(graph, tenant_id)).consolidate_at

    def check_added(rows: list[Row]) -> Persona:
        if not rows:
            raise NotFound(f"No tenant {tenant_id!r}.")
        stored = persona_from_row(rows[0])
        requested = replace(persona, created_at=stored.created_at, updated_at=stored.updated_at)
        if stored != requested or rows[0]["copying"]:
            raise IdTaken("persona", persona.id)
        return stored

    return await graph.write_if(
        check_added,
        "access/personas/add_persona",
        tenant_id=tenant_id,
        persona={
            **persona_properties(persona),
            "next_night_at": next_night(persona.created_at, persona.time_zone, hour),
        },
        event=audit_record("persona_added", by=by, now=persona.created_at),
    )


async def get_persona(graph: Graph, tenant_id: str, persona_id: str) -> Persona:
    """One persona of a tenant."""
    rows = await graph.read(
        "access/personas/get_persona", tenant_id=tenant_id, persona_id=persona_id
    )
    if not rows:
        raise PersonaNotFound(persona_id)
    return persona_from_row(rows[0])


async def list_personas(
    graph: Graph, tenant_id: str, *, cursor: str | None = None, limit: int
) -> Page[Persona]:
    """The personas of a tenant, by id."""
    rows = await graph.read(
        "access/personas/list_personas",
        tenant_id=tenant_id,
        after=decode_id(cursor),
        limit=limit + 1,
    )
    return make_page([persona_from_row(row) for row in rows], limit, lambda persona: persona.id)


async def change_persona(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    changes: dict[str, Any],
    *,
    now: datetime,
    by: str = OPERATOR,
) -> Persona:
    """Change some properties of a persona. A new time zone moves its next night."""
    if not changes:
        return await get_persona(graph, tenant_id, persona_id)
    properties = {**changes, "updated_at": now}
    if "time_zone" in changes:
        time_zone = check_time_zone(changes["time_zone"])
        hour = (await read_policy(graph, tenant_id, persona_id)).figures.consolidate_at
        properties["next_night_at"] = next_night(now, time_zone, hour)
    rows = await graph.write(
        "access/personas/change_persona",
        tenant_id=tenant_id,
        persona_id=persona_id,
        changes=properties,
        event=audit_record("persona_changed", by=by, now=now),
        audited=sorted({*changes} - {"identity"}),  # of that long text, only that it changed
        after=json.dumps(
            {name: value if name != "identity" else "changed" for name, value in changes.items()}
        ),
    )
    if not rows:
        raise PersonaNotFound(persona_id)
    return persona_from_row(rows[0])


def persona_properties(persona: Persona) -> Row:
    """A persona as it is stored."""
    return {
        "id": persona.id,
        "name": persona.name,
        "identity": persona.identity,
        "tone": persona.tone.value,
        "time_zone": persona.time_zone,
        "created_at": persona.created_at,
        "updated_at": persona.updated_at,
    }


def persona_from_row(row: Row) -> Persona:
    properties = row["persona"]
    return Persona(**{**properties, "tone": Tone(properties["tone"])})
