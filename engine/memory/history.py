"""Who changed what, when, from what to what: kept in order, never altered, read as one story."""

import heapq
import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from engine.access import Caller
from engine.errors import Invalid, MemoryNotFound
from engine.memory.badges import viewer_of
from engine.memory.changes import changes_of
from engine.models import Row
from engine.store import Graph, Page, answer_within, decode_id, make_page
from engine.talk import find_message

MOST_TOLD = 500  # events, and steps of runs, in one history: the newest
STEPS_LOOKED_AT = 2_000  # of a persona, the newest, for the history of one memory
AT_ONCE = 500  # events of an export that are read together
PAGE_SECONDS = 7.0  # for each of them
FIRST = "0001-01-02T00:00:00Z"  # before everything that was written
WRITTEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class AuditRecord:
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


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which records of the audit are asked for; nothing given means all."""

    from_time: datetime | None = None
    to_time: datetime | None = None
    actor: str | None = None
    action: str | None = None


async def list_audit(
    graph: Graph, tenant_id: str, which: AuditFilter, *, cursor: str | None, limit: int
) -> Page[AuditRecord]:
    """What was changed in a tenant, in the order in which it took effect."""
    rows = await read_audit(graph, tenant_id, which, last_read(cursor), limit + 1)
    found = make_page(rows, limit, place_of)
    return Page([as_record(row["event"]) for row in found.items], found.next_cursor)


async def export_audit(graph: Graph, tenant_id: str, which: AuditFilter) -> AsyncIterator[bytes]:
    """The same as JSON lines, a page at a time."""
    place = (FIRST, "")
    while True:
        with answer_within(PAGE_SECONDS):  # of its own: the whole takes as long as it takes
            rows = await read_audit(graph, tenant_id, which, place, AT_ONCE)
        yield b"".join(msgspec.json.encode(as_record(row["event"])) + b"\n" for row in rows)
        if len(rows) < AT_ONCE:
            return
        place = (rows[-1]["written"], rows[-1]["event"]["id"])


async def read_audit(
    graph: Graph, tenant_id: str, which: AuditFilter, place: tuple[str, str], limit: int
) -> list[Row]:
    written, last_id = place
    return await graph.read(
        "memory/history/list_audit",
        tenant_id=tenant_id,
        after_time=written,
        after_id=last_id,
        from_time=which.from_time,
        to_time=which.to_time,
        actor=which.actor,
        action=which.action,
        limit=limit,
    )


def place_of(row: Row) -> str:
    return f"{row['written']}|{row['event']['id']}"


def last_read(cursor: str | None) -> tuple[str, str]:
    """When the last event of the page before was written, and its id."""
    if cursor is None:
        return FIRST, ""
    written, _, last_id = decode_id(cursor).partition("|")
    try:
        if not WRITTEN.fullmatch(written):
            raise ValueError
        datetime.fromisoformat(written[:19].removesuffix("Z"))
    except ValueError as error:
        raise Invalid("The cursor is not one that a listing gave out.") from error
    return written, last_id


async def message_history(
    graph: Graph, caller: Caller, message_id: str, *, badges_for_all: bool = False
) -> list[AuditRecord]:
    """What has happened to a message, in the order in which it took effect."""
    await find_message(graph, caller, message_id)
    rows = await graph.read(
        "memory/history/read_message_history",
        tenant_id=caller.tenant_id,
        message_id=message_id,
        viewer=viewer_of(caller, badges_for_all=badges_for_all),
        limit=MOST_TOLD,
    )
    return [as_record({**row["event"], "about": [message_id]}) for row in rows]


async def memory_history(
    graph: Graph, caller: Caller, memory_id: str, *, badges_for_all: bool = False
) -> list[AuditRecord]:
    """What has happened to a memory, by people and by night, as one story.

    A person is not told what else a step of a run was about.
    """
    found = await graph.read(
        "memory/history/read_memory_history",
        tenant_id=caller.tenant_id,
        memory_id=memory_id,
        quoted_id=json.dumps(memory_id),
        **caller.visibility,
        viewer=viewer_of(caller, badges_for_all=badges_for_all),
        limit=MOST_TOLD,
        steps=STEPS_LOOKED_AT,
    )
    if not found:
        raise MemoryNotFound(memory_id)
    events = [as_record({"about": [memory_id], **event}) for event in found[0]["events"]]
    steps = [
        record
        for step in found[0]["steps"]
        for record in records_of(step, memory_id, whole=caller.sees_as is None)
    ]
    steps.sort(key=lambda record: (record.at, record.id))
    return list(merged(events, steps))[-MOST_TOLD:]


def merged(events: Iterable[AuditRecord], steps: Iterable[AuditRecord]) -> Iterator[AuditRecord]:
    """Both in one order. Events stay in the order in which they took effect, whatever their `at`:
    it was read before they waited for each other."""

    def placed() -> Iterator[tuple[datetime, int, AuditRecord]]:
        latest: datetime | None = None
        for place, record in enumerate(events):
            latest = record.at if latest is None else max(latest, record.at)
            yield latest, place, record

    by_run = ((record.at, -1, record) for record in steps)
    for _, _, record in heapq.merge(by_run, placed(), key=lambda it: it[:2]):
        yield record


def records_of(step: Row, memory_id: str, *, whole: bool) -> Iterable[AuditRecord]:
    """What one step of a run did to one memory; without `whole`, only numbers of it are told."""
    for place, made in enumerate(changes_of(step)):
        if not names(made.change, memory_id):
            continue
        before = made.change.get("before")
        later: Any = {name: value for name, value in made.change.items() if name != "before"}
        if not whole:
            before, later = (number(it) for it in (before, made.change.get("after")))
        yield AuditRecord(
            id=f"{step['run_id']}-{step['place']:06}-{place:06}",
            at=step["as_of"],
            by=step["started_by"],
            action=made.kind,
            about=[memory_id],
            before=before,
            after=later,
            run_id=step["run_id"],
        )


def names(change: Any, memory_id: str) -> bool:
    """Whether a change is about a memory: it has exactly its id, at any depth."""
    if isinstance(change, dict):
        return any(names(value, memory_id) for value in change.values())
    if isinstance(change, list):
        return any(names(value, memory_id) for value in change)
    return bool(change == memory_id)


def number(value: Any) -> int | float | None:
    return value if isinstance(value, int | float) else None


def as_record(stored: Row) -> AuditRecord:
    flagged = {"flagged": (False, True), "unflagged": (True, False)}
    before, later = flagged.get(stored["action"], (stored.get("before"), stored.get("after")))
    return AuditRecord(
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
