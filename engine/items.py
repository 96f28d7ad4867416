"""Everything a persona remembers, may remember or does not: one list, for the Memory Manager."""

import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from engine.errors import Invalid
from engine.graph import Graph, Row
from engine.models import Caller, MemoryType, Page
from engine.paging import after, page


class Standing(StrEnum):
    """Where an item stands, in the words of the Memory Manager."""

    ACTIVE = "active"
    PENDING = "pending"
    ARCHIVED = "archived"
    REMOVED = "removed"
    NOT_REMEMBERED = "not_remembered"


class Sort(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"
    IMPORTANCE = "importance"
    SALIENCE = "salience"


@dataclass(frozen=True, slots=True)
class Which:
    """Which items are asked for; nothing given means all."""

    persona_id: str | None = None
    instance_id: str | None = None
    memory_type: MemoryType | None = None
    words: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """A candidate or a memory, as the Memory Manager shows it."""

    id: str
    persona_id: str
    memory_type: MemoryType
    text: str
    category: str | None
    standing: Standing
    state: str  # of the candidate or memory itself
    flagged: bool
    minimized: bool
    importance: int | None  # of memories
    salience: float | None
    weight_modifier: float | None
    pinned: bool | None
    said_at: datetime
    conversation_id: str | None
    links: int
    source_message_ids: list[str]


async def list_items(
    graph: Graph,
    caller: Caller,
    which: Which,
    *,
    standing: Standing | None,
    sort: Sort,
    cursor: str | None,
    limit: int,
) -> Page[Item]:
    key, last_id = where_it_stopped(cursor)
    rows = await graph.read(
        "items/list_items",
        **asked(caller, which),
        standing=standing.value if standing else None,
        sort=sort.value,
        after_key=key,
        after_id=last_id,
        limit=limit + 1,
    )
    found = page(rows, limit, lambda row: json.dumps([row["key"], row["item"]["id"]]))
    return Page([as_item(row["item"]) for row in found.items], found.next_cursor)


async def count_items(graph: Graph, caller: Caller, which: Which) -> dict[str, int]:
    """How many stand where."""
    rows = await graph.read("items/count_items", **asked(caller, which))
    counted = {row["standing"]: row["items"] for row in rows}
    return {standing.value: counted.get(standing.value, 0) for standing in Standing}


def asked(caller: Caller, which: Which) -> Row:
    return {
        "tenant_id": caller.tenant_id,
        "user_id": caller.sees_as,
        "persona_id": which.persona_id,
        "instance_id": which.instance_id,
        "memory_type": which.memory_type.value if which.memory_type else None,
        "words": which.words,
    }


def where_it_stopped(cursor: str | None) -> tuple[float | None, str]:
    told = after(cursor)
    if not told:
        return None, ""
    try:
        key, last_id = json.loads(told)
        return float(key), str(last_id)
    except (TypeError, ValueError) as error:
        raise Invalid("The cursor is not one that a listing gave out.") from error


def as_item(stored: Row) -> Item:
    given = dict(stored)
    return Item(
        memory_type=MemoryType(given.pop("memory_type")),
        standing=Standing(given.pop("standing")),
        source_message_ids=given.pop("sources"),
        **given,
    )
