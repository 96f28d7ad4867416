"""Recalls: what recalling a memory brought up in its persona, recorded and listed."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from engine.access import Caller, audit_event
from engine.errors import IdTaken, MemoryNotFound, ShapeWithdrawn
from engine.ids import id_from, new_id
from engine.memory.content import encode_content
from engine.memory.memories import find_memory_row
from engine.memory.models import MemoryState
from engine.memory.uses import Use, write_uses
from engine.models import Row
from engine.policy import read_policies_of
from engine.store import Graph, Page, Write, decode_moment, make_page, moment_key


class Valence(StrEnum):
    """What a recall felt like, in the words of the published contract."""

    POSITIVE = "Positive"
    NEGATIVE = "Negative"
    NEUTRAL = "Neutral"
    COMPLEX = "Complex"
    BITTERSWEET = "Bittersweet"


@dataclass(frozen=True, slots=True)
class RecordedRecall:
    """What recalling a memory brought up in its persona. Counts as one use of the memory."""

    recall_id: str
    memory_id: str
    persona_id: str
    response: str
    valence: Valence
    surfaced_by: str
    by: str
    recalled_at: datetime


@dataclass(frozen=True, slots=True)
class NewRecall:
    """A recall that is to be recorded."""

    response: str
    valence: Valence
    surfaced_by: str
    chosen_id: str | None = None


async def record_recall(
    graph: Graph, caller: Caller, memory_id: str, new: NewRecall, *, now: datetime
) -> RecordedRecall:
    """Record what recalling a memory brought up, and count one use of it.

    The same recall with the same id given again changes nothing and counts nothing.
    """
    memory = await find_memory_row(graph, caller, memory_id)
    persona_key = (caller.tenant_id, memory["persona_id"])
    policies = await read_policies_of(graph, [persona_key])
    recall_id = new.chosen_id or new_id()
    said = recall_properties(new)
    event = {
        **audit_event(caller, "recalled", now),
        "after": encode_content({"recall_id": recall_id}),  # never what was said
    }

    async def work(write: Write) -> Row:
        rows = await write(
            "memory/recalls/add_recall",
            tenant_id=caller.tenant_id,
            memory_id=memory_id,
            **caller.visibility,
            recall={"id": recall_id, **said, "by": caller.acts_as},
            event=event,
        )
        kept = check_recorded(rows, memory_id, recall_id, said)
        if rows[0]["fresh"]:
            use_id = id_from("recall", recall_id)
            use = Use(use_id, *persona_key, memory_ids=(memory_id,), at=now)
            await write_uses(write, [use], policies, whole=True)
        return kept

    return recall_from_row(await graph.write_with(work, name="memory/recalls/add_recall"))


def check_recorded(rows: list[Row], memory_id: str, recall_id: str, said: Row) -> Row:
    """The recall as it is stored; refuses one that could not be recorded."""
    if not rows:
        raise MemoryNotFound(memory_id)
    (row,) = rows
    if row["withdrawn"]:
        raise ShapeWithdrawn(memory_id)
    kept: Row = row["kept"]
    wanted = {"memory_id": memory_id, **said}
    if {name: kept[name] for name in wanted} != wanted:
        raise IdTaken("recall", recall_id)
    return kept


async def list_recalls(
    graph: Graph, caller: Caller, memory_id: str, *, cursor: str | None = None, limit: int
) -> Page[RecordedRecall]:
    """A page of a memory's recalls, in the order in which they were recorded.

    A caller that acts for a user gets those that were recorded for this user. While a shape is
    withdrawn it has none to show.
    """
    memory = await find_memory_row(graph, caller, memory_id)
    after_at, after_id = decode_moment(cursor)
    if memory["state"] == MemoryState.WITHDRAWN.value:
        return Page([], None)
    rows = await graph.read(
        "memory/recalls/list_recalls",
        tenant_id=caller.tenant_id,
        memory_id=memory_id,
        user_id=caller.sees_as,
        after_at=after_at,
        after_id=after_id,
        limit=limit + 1,
    )
    recalls = [recall_from_row(row["recall"]) for row in rows]
    return make_page(recalls, limit, lambda it: moment_key(it.recalled_at, it.recall_id))


def recall_properties(new: NewRecall) -> Row:
    """What a recall says, as it is stored."""
    return {
        "response": new.response,
        "valence": new.valence.value,
        "surfaced_by": new.surfaced_by,
    }


def recall_from_row(row: Row) -> RecordedRecall:
    return RecordedRecall(**{**row, "valence": Valence(row["valence"])})
