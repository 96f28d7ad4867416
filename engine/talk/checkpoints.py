"""Checkpoints: a conversation in segments of one topic each, with a label and a summary.

They are made from messages that candidates were drawn from, some time after these were said, and
under the conversation's lock. All but the newest are closed: they only take in messages of their
own time that arrive late.
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
from engine.talk.conversations import MESSAGE_OVERDUE_AFTER, get_conversation
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

BATCH_SIZE = 128  # messages put into checkpoints as one transaction, while flags wait


@dataclass(frozen=True, slots=True)
class Segment:
    """A checkpoint as it is to be stored."""

    id: str
    turns: list[Turn]
    joining: list[str]  # ids of the messages that were not in it before
    was_closed: bool = False  # its summary was final, until a late message joined
    is_open: bool = False  # the newest: it may grow, and its end may become another checkpoint


async def make_checkpoints(
    graph: Graph, tenant_id: str, conversation_id: str, *, now: datetime
) -> int:
    """Put every message that candidates were drawn from into a checkpoint. Returns how many.

    Idempotent: two workers at once, or one that dies and another that takes over, put each message
    into one checkpoint.
    """

    async def work(write: Write) -> int:
        return await cover_batch(write, tenant_id, conversation_id, now=now)

    covered = 0
    while count := await graph.write_with(work, name="make_checkpoints"):
        covered += count
    return covered


async def cover_batch(write: Write, tenant_id: str, conversation_id: str, *, now: datetime) -> int:
    """Put the next messages into checkpoints. Returns how many; 0 when none is left."""
    conversation = {"tenant_id": tenant_id, "conversation_id": conversation_id}
    locked = await write("talk/checkpoints/lock_conversation", **conversation)
    if not locked:
        return 0
    rows = await write("talk/checkpoints/list_uncovered_messages", **conversation, limit=BATCH_SIZE)
    if not rows:
        return 0
    turns = await asyncio.to_thread(lambda: [turn_from_row(row["message"]) for row in rows])
    newest = Span(**locked[0]["newest"]) if locked[0]["newest"] else None
    segments = await plan_segments(write, conversation, turns, newest)
    await write(
        "talk/checkpoints/save_checkpoints",
        **conversation,
        checkpoints=await asyncio.to_thread(
            lambda: [checkpoint_properties(planned, now) for planned in segments]
        ),
        now=now,
    )
    await write(
        "talk/checkpoints/refresh_summaries",
        **conversation,
        message_ids=[planned.turns[0].id for planned in segments],
        now=now,
        event_id=new_id(),
    )
    return len(rows)


async def plan_segments(
    write: Write, conversation: Row, turns: Sequence[Turn], newest: Span | None
) -> list[Segment]:
    """The checkpoints that these messages change or make, with all their messages.

    A late message, said before the newest checkpoint began, joins the checkpoint of its time; the
    others continue the newest one.
    """
    late = [turn for turn in turns if newest and turn.said_at < newest.from_at]
    in_time = [*turns[len(late) :]]
    spans = await write("talk/checkpoints/list_checkpoint_times", **conversation) if late else []
    joined, alone = assign_late_turns([Span(**row["span"]) for row in spans], late)
    if newest:
        in_time = [*joined.pop(newest.id, []), *in_time]
    changed_ids = [*joined, *([newest.id] if newest and in_time else [])]
    covered = await list_covered(write, conversation["tenant_id"], changed_ids)
    segments = [
        Segment(
            checkpoint_id,
            in_order([*covered[checkpoint_id], *joining]),
            ids_of(joining),
            was_closed=True,
        )
        for checkpoint_id, joining in joined.items()
    ]
    segments += [Segment(new_id(), run, ids_of(run)) for run in alone]
    if in_time and newest:
        segments += continue_newest(newest.id, covered[newest.id], in_time)
    elif in_time:
        segments += continue_newest(new_id(), [], in_time)
    return segments


async def list_covered(
    write: Write, tenant_id: str, checkpoint_ids: Sequence[str]
) -> dict[str, list[Turn]]:
    """The messages that are in some checkpoints, by checkpoint."""
    covered: dict[str, list[Turn]] = {checkpoint_id: [] for checkpoint_id in checkpoint_ids}
    rows = await write(
        "talk/checkpoints/list_covered_messages",
        tenant_id=tenant_id,
        checkpoint_ids=list(checkpoint_ids),
    )
    for row in rows:
        covered[row["checkpoint_id"]].append(turn_from_row(row["message"]))
    return covered


def continue_newest(newest_id: str, covered: Sequence[Turn], more: Sequence[Turn]) -> list[Segment]:
    """The segments from the newest checkpoint on. Its id stays with its first message."""
    runs = segment([*covered, *more])
    first_id = covered[0].id if covered else runs[0][0].id
    covered_ids = {*ids_of(covered)}
    segments = []
    for run in runs:
        ids = ids_of(run)
        if first_id in ids:
            checkpoint_id, already_in = newest_id, covered_ids
        else:
            checkpoint_id, already_in = new_id(), set[str]()
        joining = [message_id for message_id in ids if message_id not in already_in]
        segments.append(Segment(checkpoint_id, run, joining, is_open=run is runs[-1]))
    return segments


def ids_of(turns: Sequence[Turn]) -> list[str]:
    return [turn.id for turn in turns]


def checkpoint_properties(planned: Segment, now: datetime) -> Row:
    """A checkpoint as it is stored: its label, and the sentences its summary is made of."""
    ranked = summary_sentences(planned.turns)
    return {
        "id": planned.id,
        "label": topic_label(planned.turns) if can_be_named(planned, now) else None,
        "from_at": planned.turns[0].said_at,
        "to_at": planned.turns[-1].said_at,
        "joining": planned.joining,
        "parts": [part.text for part in ranked],
        "part_message_ids": [part.message_id for part in ranked],
        "part_places": [part.place for part in ranked],
        "was_closed": planned.was_closed,
    }


def can_be_named(planned: Segment, now: datetime) -> bool:
    """Whether a label would last: the segment is over, or enough of it will stay in it."""
    meaningful = [turn for turn in planned.turns if turn.embedding is not None and not turn.flagged]
    is_over = not planned.is_open or now - planned.turns[-1].said_at >= SILENCE
    return is_over or len(meaningful) >= MIN_SEGMENT_MESSAGES


def turn_from_row(row: Row) -> Turn:
    """A message as it is put into segments, with the vector of what was drawn from it."""
    properties = dict(row)
    item = properties.pop("meaning")
    return Turn(
        embedding=None if item is None else np.array(item["embedding"], np.float32),
        reliable=item is None or has_reliable_vector(item),
        **properties,
    )


async def list_overdue_checkpoints(
    graph: Graph, *, now: datetime, limit: int
) -> list[tuple[str, str]]:
    """Tenant and id of each conversation with messages that are overdue for a checkpoint."""
    rows = await graph.read(
        "talk/checkpoints/list_waiting_conversations",
        before=now - MESSAGE_OVERDUE_AFTER,
        limit=limit,
    )
    return [(row["tenant_id"], row["conversation_id"]) for row in rows]


async def list_checkpoints(
    graph: Graph, caller: Caller, conversation_id: str, *, cursor: str | None = None, limit: int
) -> Page[Checkpoint]:
    """The checkpoints of a conversation, in order, if the caller may see it."""
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
    checkpoints = [checkpoint_from_row(row["checkpoint"]) for row in rows]
    return make_page(
        checkpoints,
        limit,
        lambda checkpoint: moment_key(checkpoint.from_at, checkpoint.checkpoint_id),
    )


def checkpoint_from_row(row: Row) -> Checkpoint:
    """A checkpoint with its label, its summary and the earlier summaries."""
    properties = dict(row)
    return Checkpoint(
        checkpoint_id=properties.pop("id"),
        stale_summaries=[StaleSummary(**stale) for stale in properties.pop("stale_summaries")],
        **properties,
    )
