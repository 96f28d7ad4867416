"""Splitting a conversation: messages are copied into a new one.

The messages stay where they were said. Nothing is drawn from a copy; what was drawn from a message
gets its copies as further sources.
"""

from datetime import datetime

from engine.access import Caller
from engine.errors import ConversationNotFound, IdTaken
from engine.ids import id_from, new_id
from engine.models import Row
from engine.store import Graph
from engine.talk.conversations import conversation_from_row
from engine.talk.models import Split
from engine.talk.selections import find_run


async def split_conversation(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    *,
    first_id: str,
    last_id: str | None,
    chosen_id: str | None,
    title: str | None,
    now: datetime,
) -> Split:
    """Copy messages into a new conversation, from one to another, or to the end.

    Idempotent: the same `chosen_id` given again returns the first split, whatever was said since.
    """
    run = await find_run(graph, caller, conversation_id, first_id, last_id)
    new_conversation_id = chosen_id or new_id()
    copy_ids = {message["id"]: id_from(new_conversation_id, message["id"]) for message in run}

    def check_split(rows: list[Row]) -> Split:
        if not rows:
            raise ConversationNotFound(conversation_id)
        (row,) = rows
        conversation = conversation_from_row(row["conversation"])
        requested = (conversation_id, first_id, last_id, title or conversation.title)
        stored = (row["split_from"], row["split_first"], row["split_last"], conversation.title)
        if stored != requested:
            raise IdTaken("conversation", conversation.id)
        copied = set(row["copies"])
        return Split(
            conversation,
            {message_id: copy_id for message_id, copy_id in copy_ids.items() if copy_id in copied},
        )

    return await graph.write_if(
        check_split,
        "talk/splits/split_conversation",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        made={
            "id": new_conversation_id,
            "title": title,
            "started_at": now,
            "split_first": first_id,
            "split_last": last_id,
        },
        copies=copy_ids,
        act={"id": new_id(), "by": caller.acts_as},
    )
