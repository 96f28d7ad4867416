"""Everything a persona remembers, may remember or does not: one list, for the Memory Manager.

A listing walks an index, a window of ids at a time, and reads of them what the caller may know. It
looks at a bounded number of items in one call: where most are not the caller's, a page may be
shorter than its limit, or empty, and still have a next one.
"""

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from engine.access import Caller
from engine.embedding import search_scope
from engine.errors import Invalid
from engine.memory.badges import shown_state, shown_weight, shows_flag, viewer_of
from engine.models import EARLIEST, MemoryType, Row
from engine.store import (
    Graph,
    Page,
    decode_moment,
    decode_number,
    encode_cursor,
    moment_key,
    number_key,
)

MOST_LOOKED_AT = 5_000  # items, for one page
MOST_COUNTED = 5_000  # items, for the counts: the newest
MOST_PERSONAS = 200  # whose items are merged into one list
MOST_SAYING = 1_000  # items that say the words asked for: the nearest
WINDOW = 1_000  # items looked at together, after the first
LATEST = datetime(9999, 12, 30, tzinfo=UTC)  # after everything anybody said
MOST_VALUE = 11  # above every importance and salience
LAST_ID = "\uffff"  # after every id


class ItemState(StrEnum):
    """Where an item stands, in the words of the Memory Manager."""

    ACTIVE = "active"
    PENDING = "pending"
    ARCHIVED = "archived"
    REMOVED = "removed"
    NOT_REMEMBERED = "not_remembered"


class ItemOrder(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"
    IMPORTANCE = "importance"  # of memories; a candidate has none
    SALIENCE = "salience"  # the same


MEMORY_STATES = ["active", "archived"]
CANDIDATE_STATES = ["pending", "suppressed", "passed_over", "removed"]
# The states in which items of a standing may be; a flag the caller may not know of hides another.
STATES_OF = {
    ItemState.ACTIVE: ["active"],
    ItemState.ARCHIVED: ["archived"],
    ItemState.PENDING: ["pending", "suppressed"],
    ItemState.REMOVED: ["removed"],
    ItemState.NOT_REMEMBERED: [*MEMORY_STATES, *CANDIDATE_STATES],
}


STANDS_AS_IT_IS = {standing.value for standing in ItemState}


@dataclass(frozen=True, slots=True)
class ItemFilter:
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
    standing: ItemState
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
    can_change: bool


@dataclass(frozen=True, slots=True)
class ItemCounts:
    """How many items stand where, among the newest; `more` when there are others beside them."""

    active: int
    pending: int
    archived: int
    removed: int
    not_remembered: int
    more: bool


class Place(NamedTuple):
    """Where an item stands in an order."""

    key: Any
    id: str


async def list_items(
    graph: Graph,
    caller: Caller,
    which: ItemFilter,
    *,
    standing: ItemState | None,
    sort: ItemOrder,
    cursor: str | None,
    limit: int,
    badges_for_all: bool = False,
) -> Page[Item]:
    """Items of a tenant, an instance or a persona, for those who may know of them."""
    scope = await scope_of(graph, caller, which, sort)
    viewer = viewer_of(caller, badges_for_all=badges_for_all)
    found: list[Item] = []
    last: Place | None = None
    looked_at = 0
    start = place_after(cursor, sort)
    async for places in walk(graph, caller, which, scope, sort, standing, start, first=4 * limit):
        rows = await graph.read(
            "memory/items/read_items",
            ids=[place.id for place in places],
            **asked(caller, which, viewer),
        )
        seen = {row["item"]["id"]: as_item(row["item"], viewer) for row in rows}
        for place in places:
            item = seen.get(place.id)
            if item and standing in (None, item.standing):
                if len(found) == limit:
                    return Page(found, cursor_at(last))
                found.append(item)
            last = place
        looked_at += len(places)
        if looked_at >= MOST_LOOKED_AT:
            return Page(found, cursor_at(last))
    return Page(found, None)


async def count_items(
    graph: Graph, caller: Caller, which: ItemFilter, *, badges_for_all: bool = False
) -> ItemCounts:
    """How many stand where, among the newest that may be looked at."""
    scope = await scope_of(graph, caller, which, ItemOrder.NEWEST)
    viewer = viewer_of(caller, badges_for_all=badges_for_all)
    counted = dict.fromkeys(ItemState, 0)
    looked_at = 0
    start = place_after(None, ItemOrder.NEWEST)
    more = False
    async for places in walk(
        graph, caller, which, scope, ItemOrder.NEWEST, None, start, first=WINDOW
    ):
        if looked_at >= MOST_COUNTED:
            more = True
            break
        rows = await graph.read(
            "memory/items/read_item_states",
            ids=[place.id for place in places],
            **asked(caller, which, viewer),
        )
        for row in rows:
            counted[standing_of(row["item"], viewer)] += 1
        looked_at += len(places)
    return ItemCounts(**{standing.value: count for standing, count in counted.items()}, more=more)


async def scope_of(
    graph: Graph, caller: Caller, which: ItemFilter, sort: ItemOrder
) -> list[str] | None:
    """The personas whose items are walked through; None for all of the tenant at once."""
    if which.persona_id is not None:
        return [which.persona_id]
    whole = caller.sees_as is None and which.instance_id is None
    if whole and which.words is None and sort in (ItemOrder.NEWEST, ItemOrder.OLDEST):
        return None
    rows = await graph.read(
        "memory/items/list_personas",
        tenant_id=caller.tenant_id,
        instance_id=which.instance_id,
        **caller.visibility,
        limit=MOST_PERSONAS + 1,
    )
    if len(rows) > MOST_PERSONAS:
        raise Invalid(f"There are more than {MOST_PERSONAS} personas here: name one.")
    return [row["id"] for row in rows]


async def walk(
    graph: Graph,
    caller: Caller,
    which: ItemFilter,
    scope: list[str] | None,
    sort: ItemOrder,
    standing: ItemState | None,
    start: Place,
    *,
    first: int,
) -> AsyncIterator[list[Place]]:
    """The places of items in their order, a window at a time, whoever may know of them."""
    if scope == []:
        return
    if which.words is not None:
        places = await places_saying(graph, caller, which.words, scope or [], sort, start)
        for begin in range(0, len(places), WINDOW):
            yield places[begin : begin + WINDOW]
        return
    states = STATES_OF[standing] if standing else [*MEMORY_STATES, *CANDIDATE_STATES]
    size = min(first, WINDOW)
    while True:
        rows = await graph.read(
            STATEMENTS[sort, scope is None],
            tenant_id=caller.tenant_id,
            **start_of(sort, start),
            **({} if scope is None else {"persona_ids": scope}),
            **({} if scope is None else states_walked(sort, states)),
            limit=size,
        )
        if rows:
            places = [Place(row["key"], row["id"]) for row in rows]
            yield places
            start = places[-1]
        if len(rows) < size:
            return
        size = WINDOW


STATEMENTS = {
    (ItemOrder.NEWEST, True): "memory/items/list_newest_of_tenant",
    (ItemOrder.OLDEST, True): "memory/items/list_oldest_of_tenant",
    (ItemOrder.NEWEST, False): "memory/items/list_newest_of_personas",
    (ItemOrder.OLDEST, False): "memory/items/list_oldest_of_personas",
    (ItemOrder.IMPORTANCE, False): "memory/items/list_by_importance",
    (ItemOrder.SALIENCE, False): "memory/items/list_by_salience",
}


def states_walked(sort: ItemOrder, states: list[str]) -> Row:
    """The parameters of a walk that say which states are walked through."""
    by_label = {"memory_states": [state for state in states if state in MEMORY_STATES]}
    if sort in (ItemOrder.NEWEST, ItemOrder.OLDEST):
        by_label["candidate_states"] = [state for state in states if state in CANDIDATE_STATES]
    return by_label


def start_of(sort: ItemOrder, start: Place) -> Row:
    """The parameters of a walk that say where it goes on."""
    name = "after_time" if sort in (ItemOrder.NEWEST, ItemOrder.OLDEST) else "after_value"
    return {name: start.key, "after_id": start.id}


async def places_saying(
    graph: Graph, caller: Caller, words: str, scope: list[str], sort: ItemOrder, start: Place
) -> list[Place]:
    """The places of the items that say all of some words, in their order."""
    query = as_query(words, [search_scope(caller.tenant_id, persona_id) for persona_id in scope])
    if query is None:
        return []
    rows = await graph.read(
        "memory/items/search_words", tenant_id=caller.tenant_id, query=query, limit=MOST_SAYING
    )
    key_of: dict[ItemOrder, Callable[[Row], Any]] = {
        ItemOrder.NEWEST: lambda row: row["said_at"],
        ItemOrder.OLDEST: lambda row: row["said_at"],
        ItemOrder.IMPORTANCE: lambda row: row["importance"],
        ItemOrder.SALIENCE: lambda row: row["salience"],
    }
    places = [Place(key_of[sort](row), row["id"]) for row in rows if key_of[sort](row) is not None]
    if sort is ItemOrder.OLDEST:
        return sorted(place for place in places if place > start)
    return sorted((place for place in places if place < start), reverse=True)


def as_query(words: str, shelves: list[str]) -> str | None:
    """What Lucene is asked: all of the words, the last as a beginning too; None without any.

    Each is quoted, so that nothing in it is taken for Lucene's own syntax.
    """
    asked_words = [word for word in words.split() if any(map(str.isalnum, word))]
    if not asked_words or not shelves:
        return None
    quoted = ['"' + re.sub(r'(["\\])', r"\\\1", word) + '"' for word in asked_words]
    if re.fullmatch(r"\w+", asked_words[-1]):
        quoted[-1] = f"({quoted[-1]} OR {asked_words[-1].lower()}*)"
    clauses = " ".join(f"+{word}" for word in quoted)
    return f"+search_scope:({' '.join(shelves)})^0 +text:({clauses})"


def asked(caller: Caller, which: ItemFilter, viewer: str | None) -> Row:
    return {
        "tenant_id": caller.tenant_id,
        **caller.visibility,
        "viewer": viewer,
        "instance_id": which.instance_id,
        "memory_type": which.memory_type.value if which.memory_type else None,
    }


def place_after(cursor: str | None, sort: ItemOrder) -> Place:
    """The place after which a page starts."""
    by_time = {ItemOrder.NEWEST: LATEST, ItemOrder.OLDEST: EARLIEST}
    if cursor is None:
        return Place(by_time.get(sort, MOST_VALUE), "" if sort is ItemOrder.OLDEST else LAST_ID)
    if sort in by_time:
        return Place(*decode_moment(cursor))
    number, last_id = decode_number(cursor)
    return Place(MOST_VALUE if number is None else number, last_id)


def cursor_at(place: Place | None) -> str | None:
    if place is None:
        return None
    by_time = isinstance(place.key, datetime)
    return encode_cursor(
        moment_key(place.key, place.id) if by_time else number_key(place.key, place.id)
    )


def standing_of(stored: Row, viewer: str | None) -> ItemState:
    """Where an item stands, as far as its caller may know of it."""
    state = shown_state(stored)
    if shows_flag(stored, viewer) or state not in STANDS_AS_IT_IS:
        return ItemState.NOT_REMEMBERED
    return ItemState(state)


def as_item(stored: Row, viewer: str | None) -> Item:
    """An item as it is shown: flags that its caller may not know of are not there."""
    weight = None if stored["weight_modifier"] is None else shown_weight(stored)
    return Item(
        id=stored["id"],
        persona_id=stored["persona_id"],
        memory_type=MemoryType(stored["memory_type"]),
        text=stored["text"],
        category=stored["category"],
        standing=standing_of(stored, viewer),
        state=shown_state(stored),
        flagged=shows_flag(stored, viewer),
        minimized=weight is not None and weight < 1,
        importance=stored["importance"],
        salience=stored["salience"],
        weight_modifier=weight,
        pinned=stored["pinned"],
        said_at=stored["said_at"],
        conversation_id=stored["conversation_id"],
        links=stored["links"],
        source_message_ids=stored["sources"],
        can_change=stored["can_change"],
    )
