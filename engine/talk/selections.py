"""Selecting messages of a conversation: a run of them, some by their ids, or one."""

from collections.abc import Sequence

from engine.access import Caller
from engine.errors import Invalid, MessageNotFound
from engine.models import Row
from engine.store import Graph
from engine.talk.conversations import get_conversation

MAX_SELECTED = 5_000  # messages; they are changed in one transaction that a caller waits for


async def find_run(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    first_id: str,
    last_id: str | None,
) -> list[Row]:
    """Id, persona and size of the messages from one to another, or to the end.

    In the conversation's order, if the caller may see it. The two ends may be given in any order.
    """
    await get_conversation(graph, caller, conversation_id)
    rows = await graph.read(
        "talk/conversations/list_message_range",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        first_id=first_id,
        last_id=last_id,
        limit=MAX_SELECTED + 1,
    )
    if not rows:
        raise Invalid("The first and the last message have to be of this conversation.")
    messages: list[Row] = rows[0]["messages"]
    if len(messages) > MAX_SELECTED:
        raise Invalid(f"These are more than {MAX_SELECTED} messages: too many at once.")
    return messages


async def find_chosen(
    graph: Graph, caller: Caller, conversation_id: str, message_ids: Sequence[str]
) -> list[Row]:
    """Id, persona and size of some messages, in order, if the caller may see the conversation."""
    await get_conversation(graph, caller, conversation_id)
    wanted_ids = set(message_ids)
    if not wanted_ids:
        raise Invalid("No message was chosen.")
    if len(wanted_ids) > MAX_SELECTED:
        raise Invalid(f"These are more than {MAX_SELECTED} messages: too many at once.")
    (row,) = await graph.read(
        "talk/conversations/list_messages_by_id",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        message_ids=sorted(wanted_ids),
    )
    messages: list[Row] = row["messages"]
    if len(messages) < len(wanted_ids):
        raise Invalid("Every chosen message has to be of this conversation.")
    return messages


async def find_message(graph: Graph, caller: Caller, message_id: str) -> Row:
    """`conversation_id` and `is_admin` of a message's conversation, if the caller may see it."""
    rows = await graph.read(
        "talk/conversations/find_message",
        tenant_id=caller.tenant_id,
        message_id=message_id,
        **caller.visibility,
    )
    if not rows:
        raise MessageNotFound(message_id)
    return rows[0]
