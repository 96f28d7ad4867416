"""Duplicating a persona: the only way to reset how a persona's memory was used.

The copy has the persona's memories and links, without their use. It is made in batches, each a
transaction; until it is complete nobody sees it, and whoever asks next continues where the last
worker stopped.
"""

import math
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.access import PERSONA_LEASE_SECONDS, Persona, persona_from_row
from engine.embedding import search_scope
from engine.errors import IdTaken, NightUnderWay, PersonaNotFound
from engine.ids import id_from
from engine.models import Row
from engine.policy import next_night, read_policy
from engine.store import OPERATOR, Graph, audit_record

BATCH_SIZE = 500  # memories in one transaction, each with its vector
STATEMENT_SECONDS = 120.0  # limit of one statement; the last one visits every memory


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A copy of a persona, and whether all of it was copied."""

    persona: Persona
    whole: bool


@dataclass(frozen=True, slots=True)
class CopyRef:
    """A persona and the copy that is made of it. Copying leases the persona, as a night does."""

    tenant_id: str
    persona_id: str
    copy_id: str

    @property
    def worker(self) -> str:
        """The holder of the lease: the same for every attempt at this copy."""
        return f"copy:{self.copy_id}"

    @property
    def source(self) -> dict[str, str]:
        """Statement parameters that name the persona."""
        return {"tenant_id": self.tenant_id, "persona_id": self.persona_id}

    @property
    def parameters(self) -> dict[str, str]:
        """Statement parameters that name the persona and its copy."""
        return {**self.source, "copy_id": self.copy_id}


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
    """Copy a persona, or continue a copy that was begun; with `seconds`, for about that long.

    Idempotent: the same `copy_id` given again returns the first copy.
    """
    graph = graph.with_limit(STATEMENT_SECONDS)  # a shorter limit of the request still holds
    deadline = time.monotonic() + (math.inf if seconds is None else seconds)
    ref = CopyRef(tenant_id, persona_id, copy_id)
    while True:
        row = await begin_copy(graph, ref, name, now=now, by=by)
        copy = persona_from_row(row)
        if not row["copying"]:
            return Duplicate(copy, whole=True)
        async for lease_held in copy_in_batches(graph, ref):
            if not lease_held:  # another worker has finished it, or a night runs: begin again
                break
            if time.monotonic() > deadline:
                return Duplicate(copy, whole=False)
        else:
            await finish_copy(graph, ref, copy, now=now)


async def begin_copy(
    graph: Graph, ref: CopyRef, name: str | None, *, now: datetime, by: str
) -> Row:
    """The copy's persona as a row; made if it is not there, and the old persona leased."""

    def check_begun(rows: list[Row]) -> Row:
        if not rows:
            raise PersonaNotFound(ref.persona_id)
        (row,) = rows
        if row["copied_from"] != ref.persona_id or name not in (None, row["persona"]["name"]):
            raise IdTaken("persona", ref.copy_id)
        if row["copying"] and row["busy"]:
            raise NightUnderWay(ref.persona_id)
        return row

    return await graph.write_if(
        check_begun,
        "memory/duplicates/begin_copy",
        **ref.source,
        copy={"id": ref.copy_id, "name": name, "at": now},
        worker=ref.worker,
        seconds=PERSONA_LEASE_SECONDS,
        event=audit_record("persona_duplicated", by=by, now=now),
    )


async def copy_in_batches(graph: Graph, ref: CopyRef) -> AsyncIterator[bool]:
    """Copy what is missing, a batch at a time; False when the lease was lost."""
    policy = await read_policy(graph, **ref.source)
    lease: dict[str, Any] = {
        **ref.parameters,
        "worker": ref.worker,
        "seconds": PERSONA_LEASE_SECONDS,
    }
    uncopied = await graph.read("memory/duplicates/list_uncopied_memories", **ref.parameters)
    async for rows in graph.write_batches(
        "memory/duplicates/copy_memories",
        [{"id": row["id"], "copy_id": id_from(ref.copy_id, row["id"])} for row in uncopied],
        size=BATCH_SIZE,
        figures=policy.as_parameter(),
        search_scope=search_scope(ref.tenant_id, ref.copy_id),
        **lease,
    ):
        yield bool(rows)
    linked = await graph.read("memory/duplicates/list_linked_memories", **ref.source)
    async for rows in graph.write_batches(
        "memory/duplicates/copy_links", [row["id"] for row in linked], size=BATCH_SIZE, **lease
    ):
        yield bool(rows)
    shaped = await graph.read("memory/duplicates/list_shaped_memories", **ref.source)
    async for rows in graph.write_batches(
        "memory/duplicates/copy_shapes", [row["id"] for row in shaped], size=BATCH_SIZE, **lease
    ):
        yield bool(rows)


async def finish_copy(graph: Graph, ref: CopyRef, copy: Persona, *, now: datetime) -> None:
    """Make the copy visible, end the lease, and plan the copy's first night."""
    hour = (await read_policy(graph, **ref.source)).figures.consolidate_at
    await graph.write(
        "memory/duplicates/finish_copy",
        **ref.parameters,
        worker=ref.worker,
        next_night_at=next_night(now, copy.time_zone, hour),
    )


async def list_unfinished_copies(
    graph: Graph, *, now: datetime, limit: int
) -> list[tuple[str, str, str]]:
    """Tenant, persona and copy of each copy that was begun and that no worker holds."""
    rows = await graph.read("memory/duplicates/list_open_copies", limit=limit)
    return [(row["tenant_id"], row["persona_id"], row["copy_id"]) for row in rows]
