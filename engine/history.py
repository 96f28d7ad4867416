"""Who changed what, when, from what to what: kept in order, never altered, read as one story."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.errors import MemoryNotFound
from engine.flags import find_message
from engine.graph import Graph, Row
from engine.models import Caller, Page
from engine.night.ledger import changes_of
from engine.paging import after, page


@dataclass(frozen=True, slots=True)
class Record:
    """One change of state."""

    id: str
    at: datetime
    by: str
    action: str  # flagged, minimized, archived, ...; or what a run did: formed, merged, ...
    about: list[str]  # ids of messages or memories
    before: Any = None
    after: Any = None
    range_id: str | None = None
    source: str | None = None
    run_id: str | None = None  # of what a night did


async def list_audit(
    graph: Graph, tenant_id: str, *, cursor: str | None, limit: int
) -> Page[Record]:
    """Everything people changed in a tenant, the oldest first."""
    rows = await graph.read(
        "events/list_audit", tenant_id=tenant_id, after=after(cursor), limit=limit + 1
    )
    return page([as_record(row["event"]) for row in rows], limit, lambda record: record.id)


async def message_history(graph: Graph, caller: Caller, message_id: str) -> list[Record]:
    """What has happened to a message, in order."""
    await find_message(graph, caller, message_id)
    rows = await graph.read(
        "events/read_message_history", tenant_id=caller.tenant_id, message_id=message_id
    )
    return [as_record({**row["event"], "about": [message_id]}) for row in rows]


async def memory_history(graph: Graph, tenant_id: str, memory_id: str) -> list[Record]:
    """What has happened to a memory, by people and by night, as one story."""
    found = await graph.read("memories/read_history", tenant_id=tenant_id, memory_id=memory_id)
    if not found:
        raise MemoryNotFound(memory_id)
    told = [as_record({"about": [memory_id], **event}) for event in found[0]["events"]]
    told += [it for step in found[0]["steps"] for it in told_by(step, memory_id)]
    return sorted(told, key=lambda record: (record.at, record.id))


def told_by(step: Row, memory_id: str) -> Iterable[Record]:
    """What one step of a run did to one memory."""
    for place, it in enumerate(changes_of(step)):
        if memory_id not in json.dumps(it.change, default=str):
            continue
        yield Record(
            id=f"{step['run_id']}-{step['place']:06}-{place:06}",
            at=step["as_of"],
            by=step["started_by"],
            action=it.kind,
            about=[memory_id],
            before=it.change.get("before"),
            after={name: value for name, value in it.change.items() if name != "before"},
            run_id=step["run_id"],
        )


def as_record(stored: Row) -> Record:
    flagged = {"flagged": (False, True), "unflagged": (True, False)}
    before, later = flagged.get(stored["action"], (stored.get("before"), stored.get("after")))
    return Record(
        id=stored["id"],
        at=stored["at"],
        by=stored["by"],
        action=stored["action"],
        about=stored.get("message_ids") or stored["about"],
        before=before,
        after=later,
        range_id=stored.get("range_id"),
        source=stored.get("source"),
    )
