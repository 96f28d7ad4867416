"""The audit: who changed what, when, from what to what. Records are never altered."""

import heapq
import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from engine.access import Caller
from engine.errors import Invalid, MemoryNotFound
from engine.memory.badges import viewer_of
from engine.memory.changes import changes_of
from engine.models import Row
from engine.store import Graph, Page, answer_within, decode_id, make_page
from engine.talk import find_message

MAX_RECORDS = 500  # in one history: the newest
MAX_STEPS = 2_000  # of a persona's runs that the history of one memory reads: the newest
EXPORT_BATCH = 500  # records of an export read at a time
PAGE_SECONDS = 7.0  # for each batch of an export
WRITTEN_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One change, by a person, a key or a run."""

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
    """Which records of the audit are wanted; None means all."""

    from_time: datetime | None = None
    to_time: datetime | None = None
    actor: str | None = None
    action: str | None = None


class AuditPosition(NamedTuple):
    """A place in the audit's order: when a record was written, and its id."""

    written_at: str
    event_id: str


START = AuditPosition("0001-01-02T00:00:00Z", "")  # before every record


async def list_audit(
    graph: Graph, tenant_id: str, audit_filter: AuditFilter, *, cursor: str | None, limit: int
) -> Page[AuditRecord]:
    """The audit of a tenant, in the order in which the changes took effect."""
    rows = await read_audit(graph, tenant_id, audit_filter, decode_position(cursor), limit + 1)
    page = make_page(rows, limit, lambda row: "|".join(position_of(row)))
    return Page([record_from_row(row["event"]) for row in page.items], page.next_cursor)


async def export_audit(
    graph: Graph, tenant_id: str, audit_filter: AuditFilter
) -> AsyncIterator[bytes]:
    """The audit of a tenant as JSON lines, a batch at a time."""
    position = START
    while True:
        with answer_within(PAGE_SECONDS):  # a limit for each batch: the whole export has none
            rows = await read_audit(graph, tenant_id, audit_filter, position, EXPORT_BATCH)
        yield b"".join(msgspec.json.encode(record_from_row(row["event"])) + b"\n" for row in rows)
        if len(rows) < EXPORT_BATCH:
            return
        position = position_of(rows[-1])


async def read_audit(
    graph: Graph, tenant_id: str, audit_filter: AuditFilter, position: AuditPosition, limit: int
) -> list[Row]:
    """The next rows of the audit after a position."""
    return await graph.read(
        "memory/history/list_audit",
        tenant_id=tenant_id,
        after_time=position.written_at,
        after_id=position.event_id,
        from_time=audit_filter.from_time,
        to_time=audit_filter.to_time,
        actor=audit_filter.actor,
        action=audit_filter.action,
        limit=limit,
    )


def position_of(row: Row) -> AuditPosition:
    return AuditPosition(row["written"], row["event"]["id"])


def decode_position(cursor: str | None) -> AuditPosition:
    """The position of the last record of the page before."""
    if cursor is None:
        return START
    written_at, _, event_id = decode_id(cursor).partition("|")
    try:
        if not WRITTEN_AT.fullmatch(written_at):
            raise ValueError
        datetime.fromisoformat(written_at[:19].removesuffix("Z"))
    except ValueError as error:
        raise Invalid("The cursor is not one that a listing gave out.") from error
    return AuditPosition(written_at, event_id)


async def message_history(
    graph: Graph, caller: Caller, message_id: str, *, badges_for_all: bool = False
) -> list[AuditRecord]:
    """The changes of a message, in the order in which they took effect."""
    await find_message(graph, caller, message_id)
    rows = await graph.read(
        "memory/history/read_message_history",
        tenant_id=caller.tenant_id,
        message_id=message_id,
        viewer=viewer_of(caller, badges_for_all=badges_for_all),
        limit=MAX_RECORDS,
    )
    return [record_from_row({**row["event"], "about": [message_id]}) for row in rows]


async def memory_history(
    graph: Graph, caller: Caller, memory_id: str, *, badges_for_all: bool = False
) -> list[AuditRecord]:
    """The changes of a memory, by people and by runs, in one order.

    A user gets only the numbers of what a run changed: a step may be about memories of others.
    """
    rows = await graph.read(
        "memory/history/read_memory_history",
        tenant_id=caller.tenant_id,
        memory_id=memory_id,
        quoted_id=json.dumps(memory_id),
        **caller.visibility,
        viewer=viewer_of(caller, badges_for_all=badges_for_all),
        limit=MAX_RECORDS,
        steps=MAX_STEPS,
    )
    if not rows:
        raise MemoryNotFound(memory_id)
    by_people = [record_from_row({"about": [memory_id], **event}) for event in rows[0]["events"]]
    by_runs = [
        record
        for step in rows[0]["steps"]
        for record in records_from_step(step, memory_id, numbers_only=caller.sees_as is not None)
    ]
    by_runs.sort(key=lambda record: (record.at, record.id))
    return list(merge_by_time(by_people, by_runs))[-MAX_RECORDS:]


def merge_by_time(
    by_people: Iterable[AuditRecord], by_runs: Iterable[AuditRecord]
) -> Iterator[AuditRecord]:
    """Both lists in one order.

    Records of people stay in the order in which they took effect, even where their `at` does not
    ascend: `at` was read before the transactions waited for each other. So each is placed at the
    latest `at` so far.
    """

    def with_latest_time() -> Iterator[tuple[datetime, int, AuditRecord]]:
        latest: datetime | None = None
        for number, record in enumerate(by_people):
            latest = record.at if latest is None else max(latest, record.at)
            yield latest, number, record

    runs_first = ((record.at, -1, record) for record in by_runs)
    for _, _, record in heapq.merge(runs_first, with_latest_time(), key=lambda entry: entry[:2]):
        yield record


def records_from_step(step: Row, memory_id: str, *, numbers_only: bool) -> Iterable[AuditRecord]:
    """What one step of a run changed of one memory."""
    for number, made in enumerate(changes_of(step)):
        if not mentions(made.change, memory_id):
            continue
        before = made.change.get("before")
        after: Any = {name: value for name, value in made.change.items() if name != "before"}
        if numbers_only:
            before, after = number_or_none(before), number_or_none(made.change.get("after"))
        yield AuditRecord(
            id=f"{step['run_id']}-{step['place']:06}-{number:06}",
            at=step["as_of"],
            by=step["started_by"],
            action=made.kind,
            about=[memory_id],
            before=before,
            after=after,
            run_id=step["run_id"],
        )


def mentions(value: Any, memory_id: str) -> bool:
    """Whether a value is exactly this id, or contains it at any depth."""
    if isinstance(value, dict):
        return any(mentions(inner, memory_id) for inner in value.values())
    if isinstance(value, list):
        return any(mentions(inner, memory_id) for inner in value)
    return bool(value == memory_id)


def number_or_none(value: Any) -> int | float | None:
    return value if isinstance(value, int | float) else None


def record_from_row(row: Row) -> AuditRecord:
    """A stored event as a record of the audit."""
    flag_states = {"flagged": (False, True), "unflagged": (True, False)}
    before, after = flag_states.get(row["action"], (row.get("before"), row.get("after")))
    return AuditRecord(
        id=row["id"],
        at=row["at"],
        by=row["by"],
        action=row["action"],
        about=row.get("message_ids") or row["about"],
        before=before,
        after=after,
        range_id=row.get("range_id"),
        source=row.get("source"),
    )
