"""Splitting a conversation: a part of what was said is carried into a new one.

What was said stays where it was said, so the new conversation holds copies. Nothing is drawn from
a copy: what was drawn from the message it is a copy of has both as its sources.
"""

from datetime import datetime

from engine.access import Caller
from engine.errors import ConversationNotFound, IdTaken
from engine.ids import id_from, new_id
from engine.models import Row
from engine.store import Graph
from engine.talk.models import Conversation, Split
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
    """Carry messages into a new conversation, from one to another, or to the end.

    Asking again with the same id finds the first, whatever was said since.
    """
    run = await find_run(graph, caller, conversation_id, first_id, last_id)
    message_ids = [message["id"] for message in run]
    made_id = chosen_id or new_id()
    copies = {message_id: id_from(made_id, message_id) for message_id in message_ids}
    made = {
        "id": made_id,
        "title": title,
        "started_at": now,
        "split_first": first_id,
        "split_last": last_id,
    }

    def as_split(rows: list[Row]) -> Split:
        if not rows:
            raise ConversationNotFound(conversation_id)
        (row,) = rows
        conversation = Conversation(**row["conversation"])
        asked = (conversation_id, first_id, last_id, title or conversation.title)
        there = tuple(row[name] for name in ("split_from", "split_first", "split_last"))
        if (*there, conversation.title) != asked:
            raise IdTaken("conversation", conversation.id)
        carried = set(row["copies"])
        return Split(conversation, {it: copy for it, copy in copies.items() if copy in carried})

    return await graph.write_if(
        as_split,
        "talk/splits/split_conversation",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        made=made,
        copies=copies,
        act={"id": new_id(), "by": caller.acts_as},
    )
