"""Duplicating a persona: the only reset there is.

The copy remembers what the persona remembers, and nothing of how it was used. It is made a batch
at a time; until it is whole nobody sees it, and whoever comes next goes on where it was left.
"""

import math
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.access import LEASE, Persona, as_persona
from engine.embedding import search_scope
from engine.errors import IdTaken, NightUnderWay, PersonaNotFound
from engine.ids import id_from
from engine.models import Row
from engine.policy import next_night, read_policy
from engine.store import OPERATOR, Graph, audit_record

AT_ONCE = 500  # memories in one transaction, each with its vector
STEP_SECONDS = 120.0  # one statement may take this long; the last looks at every memory


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A copy of a persona, and whether it is whole."""

    persona: Persona
    whole: bool


async def duplicate_persona(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    *,
    copy_id: str,
    name: str | None = None,
    now: datetime,
    seconds: float | None = None,
    by: str = OPERATOR,
) -> Duplicate:
    """Copy a persona, or go on with it; with `seconds`, for about as long.

    Asking again with the same id finds the first copy.
    """
    graph = graph.with_limit(STEP_SECONDS)  # somebody who waits for it waits less
    deadline = time.monotonic() + (math.inf if seconds is None else seconds)
    which = {"tenant_id": tenant_id, "persona_id": persona_id, "copy_id": copy_id}
    held = {**which, "worker": f"copy:{copy_id}"}

    def begun(rows: list[Row]) -> Row:
        if not rows:
            raise PersonaNotFound(persona_id)
        (row,) = rows
        if row["copied_from"] != persona_id or name not in (None, row["persona"]["name"]):
            raise IdTaken("persona", copy_id)
        if row["copying"] and row["busy"]:
            raise NightUnderWay(persona_id)
        return row

    while True:
        row = await graph.write_if(
            begun,
            "memory/duplicates/begin_copy",
            tenant_id=tenant_id,
            persona_id=persona_id,
            copy={"id": copy_id, "name": name, "at": now},
            worker=held["worker"],
            seconds=LEASE,
            event=audit_record("persona_duplicated", by=by, now=now),
        )
        copy = as_persona(row)
        if not row["copying"]:
            return Duplicate(copy, whole=True)
        async for done in copy_parts(graph, held):
            if not done:  # somebody else has finished it, or a night has taken over: look again
                break
            if time.monotonic() > deadline:
                return Duplicate(copy, whole=False)
        else:
            hour = (await read_policy(graph, tenant_id, persona_id)).figures.consolidate_at
            due = next_night(now, copy.time_zone, hour)
            await graph.write("memory/duplicates/finish_copy", **held, next_night_at=due)


async def copy_parts(graph: Graph, held: dict[str, str]) -> AsyncIterator[bool]:
    """Copy what is left, a batch at a time; False when the old persona is not held any more."""
    which = {name: held[name] for name in ("tenant_id", "persona_id", "copy_id")}
    whose = {name: held[name] for name in ("tenant_id", "persona_id")}
    figures = (await read_policy(graph, **whose)).as_parameter()
    left = [
        {"id": it["id"], "copy_id": id_from(held["copy_id"], it["id"])}
        for it in await graph.read("memory/duplicates/list_uncopied_memories", **which)
    ]
    each: dict[str, Any] = {**held, "seconds": LEASE, "size": AT_ONCE}
    mine: dict[str, Any] = {
        "figures": figures,
        "search_scope": search_scope(held["tenant_id"], held["copy_id"]),
    }
    async for done in graph.write_batches("memory/duplicates/copy_memories", left, **mine, **each):
        yield bool(done)
    linked = [
        it["id"] for it in await graph.read("memory/duplicates/list_linked_memories", **whose)
    ]
    async for done in graph.write_batches("memory/duplicates/copy_links", linked, **each):
        yield bool(done)


async def list_unfinished_copies(
    graph: Graph, *, now: datetime, limit: int
) -> list[tuple[str, str, str]]:
    """Tenant, persona and copy wherever nobody goes on with one that was begun."""
    rows = await graph.read("memory/duplicates/list_open_copies", limit=limit)
    return [(row["tenant_id"], row["persona_id"], row["copy_id"]) for row in rows]
