"""Some messages of a conversation: a run of them, those that are named, or one."""

from collections.abc import Sequence

from engine.access import Caller
from engine.errors import Invalid, MessageNotFound
from engine.models import Row
from engine.store import Graph
from engine.talk.conversations import get_conversation

MOST_SELECTED = 5_000  # messages; what is done to them is one transaction that somebody waits for


async def find_run(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    first_id: str,
    last_id: str | None,
) -> list[Row]:
    """What was said from one message to another, or to the end, for those who may know of it."""
    await get_conversation(graph, caller, conversation_id)
    found = await graph.read(
        "talk/conversations/list_message_range",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        first_id=first_id,
        last_id=last_id,
        limit=MOST_SELECTED + 1,
    )
    if not found:
        raise Invalid("The first and the last message have to be of this conversation.")
    messages: list[Row] = found[0]["messages"]
    if len(messages) > MOST_SELECTED:
        raise Invalid(f"These are more than {MOST_SELECTED} messages: too many at once.")
    return messages


async def find_chosen(
    graph: Graph, caller: Caller, conversation_id: str, message_ids: Sequence[str]
) -> list[Row]:
    """Some messages of a conversation in its order, for those who may know of it."""
    await get_conversation(graph, caller, conversation_id)
    wanted = set(message_ids)
    if not wanted:
        raise Invalid("No message was chosen.")
    if len(wanted) > MOST_SELECTED:
        raise Invalid(f"These are more than {MOST_SELECTED} messages: too many at once.")
    (found,) = await graph.read(
        "talk/conversations/list_messages_by_id",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        message_ids=sorted(wanted),
    )
    messages: list[Row] = found["messages"]
    if len(messages) < len(wanted):
        raise Invalid("Every chosen message has to be of this conversation.")
    return messages


async def find_message(graph: Graph, caller: Caller, message_id: str) -> Row:
    """Where a message was said, for those who may know of it."""
    found = await graph.read(
        "talk/conversations/find_message",
        tenant_id=caller.tenant_id,
        message_id=message_id,
        **caller.visibility,
    )
    if not found:
        raise MessageNotFound(message_id)
    return found[0]
