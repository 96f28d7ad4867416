"""Checkpoints: a conversation in segments of one topic each, with a label and a summary.

They are made from what has been drawn from, a while after it was said, and under the conversation's
lock. All but the newest are closed: they only take in messages of their time that arrive late.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from engine.access import Caller
from engine.embedding import has_reliable_vector
from engine.ids import new_id
from engine.models import Row
from engine.store import Graph, Page, Write, decode_moment, make_page, moment_key
from engine.talk.conversations import OVERDUE, get_conversation
from engine.talk.gist import summary_sentences, topic_label
from engine.talk.models import Checkpoint, StaleSummary
from engine.talk.segments import (
    MIN_SEGMENT_MESSAGES,
    SILENCE,
    Span,
    Turn,
    assign_late_turns,
    in_order,
    segment,
)

MESSAGES_AT_ONCE = 128  # put into checkpoints as one transaction, while flags wait


@dataclass(frozen=True, slots=True)
class Segment:
    """A checkpoint as it is to be kept."""

    id: str
    turns: list[Turn]
    joining: list[str]  # ids of the messages that were not in it before
    was_closed: bool = False  # what summed it up was told as finished
    is_open: bool = False  # the newest: more may be said of it, and part of it may leave


async def make_checkpoints(
    graph: Graph, tenant_id: str, conversation_id: str, *, now: datetime
) -> int:
    """Put every message that candidates were drawn from into a checkpoint. Returns how many.

    Two workers at once, or one that dies and is followed by another, put each message into one.
    """

    async def some(write: Write) -> int:
        return await cover_some(write, tenant_id, conversation_id, now=now)

    covered = 0
    while count := await graph.write_with(some, name="make_checkpoints"):
        covered += count
    return covered


async def cover_some(write: Write, tenant_id: str, conversation_id: str, *, now: datetime) -> int:
    where = {"tenant_id": tenant_id, "conversation_id": conversation_id}
    locked = await write("talk/checkpoints/lock_conversation", **where)
    rows = (
        await write("talk/checkpoints/list_uncovered", **where, limit=MESSAGES_AT_ONCE)
        if locked
        else []
    )
    if not rows:
        return 0
    turns = await asyncio.to_thread(as_turns, rows)
    newest = Span(**locked[0]["newest"]) if locked[0]["newest"] else None

    late = [turn for turn in turns if newest and turn.said_at < newest.from_at]
    in_time = turns[len(late) :]
    spans = await write("talk/checkpoints/list_spans", **where) if late else []
    joined, alone = assign_late_turns([Span(**row["span"]) for row in spans], late)
    if newest:
        in_time = [*joined.pop(newest.id, []), *in_time]
    ids = [*joined, *([newest.id] if newest and in_time else [])]
    found: dict[str, list[Turn]] = {id_: [] for id_ in ids}
    for row in await write(
        "talk/checkpoints/list_covered", tenant_id=tenant_id, checkpoint_ids=ids
    ):
        found[row["checkpoint_id"]].append(as_turn(row))

    kept = [
        Segment(id_, in_order([*found[id_], *more]), ids_of(more), was_closed=True)
        for id_, more in joined.items()
    ]
    kept += [Segment(new_id(), run, ids_of(run)) for run in alone]
    if in_time:
        kept += (
            go_on(newest.id, found[newest.id], in_time) if newest else go_on(new_id(), [], in_time)
        )
    await write(
        "talk/checkpoints/keep_checkpoints",
        **where,
        checkpoints=await asyncio.to_thread(lambda: [as_stored(it, now) for it in kept]),
        now=now,
    )
    await write(
        "talk/checkpoints/refresh_summaries",
        **where,
        message_ids=[it.turns[0].id for it in kept],
        now=now,
        event_id=new_id(),
    )
    return len(rows)


def go_on(newest_id: str, covered: Sequence[Turn], more: Sequence[Turn]) -> list[Segment]:
    """The segments from the newest checkpoint on. It stays where its first message is."""
    *runs, last = segment([*covered, *more])
    first = covered[0].id if covered else (runs or [last])[0][0].id
    before = {*ids_of(covered)}
    kept = []
    for run in (*runs, last):
        ids = ids_of(run)
        id_, held = (newest_id, before) if first in ids else (new_id(), set[str]())
        kept.append(Segment(id_, run, [it for it in ids if it not in held], is_open=run is last))
    return kept


def ids_of(turns: Sequence[Turn]) -> list[str]:
    return [turn.id for turn in turns]


def as_stored(kept: Segment, now: datetime) -> Row:
    ranked = summary_sentences(kept.turns)
    return {
        "id": kept.id,
        "label": topic_label(kept.turns) if can_be_named(kept, now) else None,
        "from_at": kept.turns[0].said_at,
        "to_at": kept.turns[-1].said_at,
        "joining": kept.joining,
        "parts": [part.text for part in ranked],
        "part_message_ids": [part.message_id for part in ranked],
        "part_places": [part.place for part in ranked],
        "was_closed": kept.was_closed,
    }


def can_be_named(kept: Segment, now: datetime) -> bool:
    """Whether enough was said, of what will not leave it again, or all that will be."""
    told = [turn for turn in kept.turns if turn.embedding is not None and not turn.flagged]
    is_over = not kept.is_open or now - kept.turns[-1].said_at >= SILENCE
    return is_over or len(told) >= MIN_SEGMENT_MESSAGES


def as_turns(rows: Sequence[Row]) -> list[Turn]:
    return [as_turn(row) for row in rows]


def as_turn(row: Row) -> Turn:
    stored = dict(row["message"])
    item = stored.pop("meaning")
    return Turn(
        embedding=None if item is None else np.array(item["embedding"], np.float32),
        reliable=item is None or has_reliable_vector(item),
        **stored,
    )


async def list_overdue_checkpoints(
    graph: Graph, *, now: datetime, limit: int
) -> list[tuple[str, str]]:
    """Tenant and id of each conversation with messages that are in no checkpoint in time."""
    rows = await graph.read(
        "talk/checkpoints/list_waiting_conversations", before=now - OVERDUE, limit=limit
    )
    return [(row["tenant_id"], row["conversation_id"]) for row in rows]


async def list_checkpoints(
    graph: Graph, caller: Caller, conversation_id: str, *, cursor: str | None = None, limit: int
) -> Page[Checkpoint]:
    """The checkpoints of a conversation, in order, for those who may read it."""
    await get_conversation(graph, caller, conversation_id)
    from_at, checkpoint_id = decode_moment(cursor)
    rows = await graph.read(
        "talk/checkpoints/list_checkpoints",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        after_from_at=from_at,
        after_id=checkpoint_id,
        limit=limit + 1,
    )
    found = [as_checkpoint(row["checkpoint"]) for row in rows]
    return make_page(found, limit, lambda it: moment_key(it.from_at, it.checkpoint_id))


def as_checkpoint(stored: Row) -> Checkpoint:
    told = dict(stored)
    return Checkpoint(
        checkpoint_id=told.pop("id"),
        stale_summaries=[StaleSummary(**it) for it in told.pop("stale_summaries")],
        **told,
    )
