"""Items: a persona's candidates and memories in one list, for the Memory Manager.

A listing scans an index, a window of ids at a time, and reads of each window the items that the
caller may see. One call scans a bounded number of items: where the caller may see few of them, a
page can be shorter than its limit, or empty, and still have a next page.
"""

import re
from collections.abc import AsyncIterator
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

MAX_SCANNED = 5_000  # items, for one page
MAX_COUNTED = 5_000  # items, for the counts: the newest
MAX_PERSONAS = 200  # whose items are merged into one list
MAX_WORD_HITS = 1_000  # items found by words: the best
WINDOW_SIZE = 1_000  # items scanned at a time; the first window may be smaller
LATEST = datetime(9999, 12, 30, tzinfo=UTC)  # after every time that is stored
ABOVE_ALL_VALUES = 11  # more than every importance and salience
AFTER_ALL_IDS = "\uffff"


class ItemState(StrEnum):
    """The state of an item as the Memory Manager shows it."""

    ACTIVE = "active"
    PENDING = "pending"
    ARCHIVED = "archived"
    REMOVED = "removed"
    NOT_REMEMBERED = "not_remembered"


class ItemOrder(StrEnum):
    """How a list of items is sorted."""

    NEWEST = "newest"
    OLDEST = "oldest"
    IMPORTANCE = "importance"  # of memories; a candidate has none
    SALIENCE = "salience"  # the same


MEMORY_STATES = ["active", "archived"]
CANDIDATE_STATES = ["pending", "suppressed", "passed_over", "removed"]
# Stored states of the items that may be shown in a state. A flag that the caller may not see
# changes how an item is shown, so more are scanned than are shown.
STORED_STATES = {
    ItemState.ACTIVE: ["active"],
    ItemState.ARCHIVED: ["archived"],
    ItemState.PENDING: ["pending", "suppressed"],
    ItemState.REMOVED: ["removed"],
    ItemState.NOT_REMEMBERED: [*MEMORY_STATES, *CANDIDATE_STATES],
}
SHOWN_AS_STORED = {state.value for state in ItemState}


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """Which items are wanted; None means all."""

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
    """How many of the newest items are in each state; `more` when there are older ones."""

    active: int
    pending: int
    archived: int
    removed: int
    not_remembered: int
    more: bool


class Position(NamedTuple):
    """Where an item is in a sorted list: the value it is sorted by, and its id."""

    key: Any
    id: str


@dataclass(frozen=True, slots=True)
class Scan:
    """A scan through items: for whom, of which personas, in which order."""

    caller: Caller
    viewer: str | None  # the user to whom only their own flags are shown
    item_filter: ItemFilter
    persona_ids: list[str] | None  # None: all of the tenant
    sort: ItemOrder
    standing: ItemState | None = None  # None: all

    @property
    def by_time(self) -> bool:
        return self.sort in (ItemOrder.NEWEST, ItemOrder.OLDEST)

    @property
    def read_parameters(self) -> Row:
        """Parameters of the statements that read the items of a window."""
        memory_type = self.item_filter.memory_type
        return {
            "tenant_id": self.caller.tenant_id,
            **self.caller.visibility,
            "viewer": self.viewer,
            "instance_id": self.item_filter.instance_id,
            "memory_type": memory_type.value if memory_type else None,
        }


async def list_items(
    graph: Graph,
    caller: Caller,
    item_filter: ItemFilter,
    *,
    standing: ItemState | None,
    sort: ItemOrder,
    cursor: str | None,
    limit: int,
    badges_for_all: bool = False,
) -> Page[Item]:
    """Items of a tenant, an instance or a persona that the caller may see."""
    viewer = viewer_of(caller, badges_for_all=badges_for_all)
    persona_ids = await personas_to_scan(graph, caller, item_filter, sort)
    scan = Scan(caller, viewer, item_filter, persona_ids, sort, standing)
    items: list[Item] = []
    last: Position | None = None
    scanned = 0
    start = start_position(cursor, sort)
    async for window in scan_windows(graph, scan, start, first_size=4 * limit):
        rows = await graph.read(
            "memory/items/read_items",
            ids=[position.id for position in window],
            **scan.read_parameters,
        )
        visible = {row["item"]["id"]: item_from_row(row["item"], viewer) for row in rows}
        for position in window:
            item = visible.get(position.id)
            if item and standing in (None, item.standing):
                if len(items) == limit:
                    return Page(items, cursor_after(last))
                items.append(item)
            last = position
        scanned += len(window)
        if scanned >= MAX_SCANNED:
            return Page(items, cursor_after(last))
    return Page(items, None)


async def count_items(
    graph: Graph, caller: Caller, item_filter: ItemFilter, *, badges_for_all: bool = False
) -> ItemCounts:
    """How many items the caller may see in each state, among the newest."""
    sort = ItemOrder.NEWEST
    viewer = viewer_of(caller, badges_for_all=badges_for_all)
    persona_ids = await personas_to_scan(graph, caller, item_filter, sort)
    scan = Scan(caller, viewer, item_filter, persona_ids, sort)
    counts = dict.fromkeys(ItemState, 0)
    scanned = 0
    more = False
    start = start_position(None, sort)
    async for window in scan_windows(graph, scan, start, first_size=WINDOW_SIZE):
        if scanned >= MAX_COUNTED:
            more = True
            break
        rows = await graph.read(
            "memory/items/read_item_states",
            ids=[position.id for position in window],
            **scan.read_parameters,
        )
        for row in rows:
            counts[standing_of(row["item"], viewer)] += 1
        scanned += len(window)
    return ItemCounts(**{state.value: count for state, count in counts.items()}, more=more)


async def personas_to_scan(
    graph: Graph, caller: Caller, item_filter: ItemFilter, sort: ItemOrder
) -> list[str] | None:
    """The personas whose items are scanned; None for all of the tenant at once."""
    if item_filter.persona_id is not None:
        return [item_filter.persona_id]
    sees_all = caller.sees_as is None and item_filter.instance_id is None
    by_time = sort in (ItemOrder.NEWEST, ItemOrder.OLDEST)
    if sees_all and by_time and item_filter.words is None:
        return None
    rows = await graph.read(
        "memory/items/list_personas",
        tenant_id=caller.tenant_id,
        instance_id=item_filter.instance_id,
        **caller.visibility,
        limit=MAX_PERSONAS + 1,
    )
    if len(rows) > MAX_PERSONAS:
        raise Invalid(f"There are more than {MAX_PERSONAS} personas here: name one.")
    return [row["id"] for row in rows]


async def scan_windows(
    graph: Graph, scan: Scan, start: Position, *, first_size: int
) -> AsyncIterator[list[Position]]:
    """The positions of items after a start, in order, a window at a time.

    Also those of items that the caller may not see: they are left out when a window is read.
    """
    if scan.persona_ids == []:
        return
    if scan.item_filter.words is not None:
        positions = await positions_by_words(graph, scan, scan.item_filter.words, start)
        for begin in range(0, len(positions), WINDOW_SIZE):
            yield positions[begin : begin + WINDOW_SIZE]
        return
    size = min(first_size, WINDOW_SIZE)
    while True:
        rows = await graph.read(
            STATEMENTS[scan.sort, scan.persona_ids is None],
            tenant_id=scan.caller.tenant_id,
            **scan_parameters(scan, start),
            limit=size,
        )
        if rows:
            positions = [Position(row["key"], row["id"]) for row in rows]
            yield positions
            start = positions[-1]
        if len(rows) < size:
            return
        size = WINDOW_SIZE


STATEMENTS = {  # by sort, and whether all of the tenant is scanned
    (ItemOrder.NEWEST, True): "memory/items/list_newest_of_tenant",
    (ItemOrder.OLDEST, True): "memory/items/list_oldest_of_tenant",
    (ItemOrder.NEWEST, False): "memory/items/list_newest_of_personas",
    (ItemOrder.OLDEST, False): "memory/items/list_oldest_of_personas",
    (ItemOrder.IMPORTANCE, False): "memory/items/list_by_importance",
    (ItemOrder.SALIENCE, False): "memory/items/list_by_salience",
}


def scan_parameters(scan: Scan, start: Position) -> Row:
    """Parameters of a scan's statement: after which position, of whom and in which states."""
    parameters: Row = {
        "after_time" if scan.by_time else "after_value": start.key,
        "after_id": start.id,
    }
    if scan.persona_ids is None:
        return parameters
    all_states = [*MEMORY_STATES, *CANDIDATE_STATES]
    states = STORED_STATES[scan.standing] if scan.standing else all_states
    parameters["persona_ids"] = scan.persona_ids
    parameters["memory_states"] = [state for state in states if state in MEMORY_STATES]
    if scan.by_time:  # candidates have no importance and no salience
        parameters["candidate_states"] = [state for state in states if state in CANDIDATE_STATES]
    return parameters


async def positions_by_words(
    graph: Graph, scan: Scan, words: str, start: Position
) -> list[Position]:
    """The positions after a start of the items whose text has all of some words, in order."""
    scopes = [
        search_scope(scan.caller.tenant_id, persona_id) for persona_id in scan.persona_ids or []
    ]
    query = full_text_query(words, scopes)
    if query is None:
        return []
    rows = await graph.read(
        "memory/items/search_words",
        tenant_id=scan.caller.tenant_id,
        query=query,
        limit=MAX_WORD_HITS,
    )
    sort_key = "said_at" if scan.by_time else scan.sort.value
    positions = [Position(row[sort_key], row["id"]) for row in rows if row[sort_key] is not None]
    if scan.sort is ItemOrder.OLDEST:
        return sorted(position for position in positions if position > start)
    return sorted((position for position in positions if position < start), reverse=True)


def full_text_query(words: str, search_scopes: list[str]) -> str | None:
    """A Lucene query for all of the words, the last also as a prefix; None without any word.

    Each word is quoted, so that nothing in it is read as Lucene syntax.
    """
    terms = [word for word in words.split() if any(map(str.isalnum, word))]
    if not terms or not search_scopes:
        return None
    quoted = ['"' + re.sub(r'(["\\])', r"\\\1", term) + '"' for term in terms]
    if re.fullmatch(r"\w+", terms[-1]):
        quoted[-1] = f"({quoted[-1]} OR {terms[-1].lower()}*)"
    clauses = " ".join(f"+{term}" for term in quoted)
    return f"+search_scope:({' '.join(search_scopes)})^0 +text:({clauses})"


def start_position(cursor: str | None, sort: ItemOrder) -> Position:
    """The position after which a page starts; without a cursor, before every item."""
    first_times = {ItemOrder.NEWEST: LATEST, ItemOrder.OLDEST: EARLIEST}
    if cursor is None:
        key = first_times.get(sort, ABOVE_ALL_VALUES)
        return Position(key, "" if sort is ItemOrder.OLDEST else AFTER_ALL_IDS)
    if sort in first_times:
        return Position(*decode_moment(cursor))
    value, last_id = decode_number(cursor)
    return Position(ABOVE_ALL_VALUES if value is None else value, last_id)


def cursor_after(position: Position | None) -> str | None:
    """The cursor of a page that starts after a position."""
    if position is None:
        return None
    encode_key = moment_key if isinstance(position.key, datetime) else number_key
    return encode_cursor(encode_key(position.key, position.id))


def standing_of(row: Row, viewer: str | None) -> ItemState:
    """The state in which an item is shown to a viewer."""
    state = shown_state(row)
    if shows_flag(row, viewer) or state not in SHOWN_AS_STORED:
        return ItemState.NOT_REMEMBERED
    return ItemState(state)


def item_from_row(row: Row, viewer: str | None) -> Item:
    """An item without the flags that its caller may not see."""
    weight = None if row["weight_modifier"] is None else shown_weight(row)
    return Item(
        id=row["id"],
        persona_id=row["persona_id"],
        memory_type=MemoryType(row["memory_type"]),
        text=row["text"],
        category=row["category"],
        standing=standing_of(row, viewer),
        state=shown_state(row),
        flagged=shows_flag(row, viewer),
        minimized=weight is not None and weight < 1,
        importance=row["importance"],
        salience=row["salience"],
        weight_modifier=weight,
        pinned=row["pinned"],
        said_at=row["said_at"],
        conversation_id=row["conversation_id"],
        links=row["links"],
        source_message_ids=row["sources"],
        can_change=row["can_change"],
    )
