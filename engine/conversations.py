"""The transcript: conversations, and what was said in them. Recorded once, never changed."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from engine.errors import (
    ConversationNotFound,
    IdTaken,
    InstanceNotFound,
    Invalid,
    PersonaNotFound,
)
from engine.extraction import fingerprint
from engine.graph import Graph, Row
from engine.instances import get_instance
from engine.models import (
    Caller,
    Conversation,
    Deprioritization,
    Message,
    Page,
    Role,
    Speaker,
)
from engine.paging import after, after_moment, moment, page


async def add_conversation(
    graph: Graph, caller: Caller, conversation: Conversation
) -> Conversation:
    """Open a conversation. Asking again with the same id and content finds the first."""
    await get_instance(graph, caller, conversation.instance_id)
    found = await graph.write(
        "conversations/add_conversation",
        tenant_id=caller.tenant_id,
        instance_id=conversation.instance_id,
        persona_ids=conversation.persona_ids,
        conversation={
            "id": conversation.id,
            "title": conversation.title,
            "started_at": conversation.started_at,
        },
    )
    if not found:
        raise InstanceNotFound(conversation.instance_id)
    if found[0]["missing"]:
        raise PersonaNotFound(found[0]["missing"][0])
    stored = Conversation(**found[0]["conversation"])
    if stored != replace(conversation, started_at=stored.started_at):
        raise IdTaken("conversation", conversation.id)
    return stored


async def get_conversation(graph: Graph, caller: Caller, conversation_id: str) -> Conversation:
    found = await find_conversation(graph, caller, conversation_id)
    return Conversation(**found["conversation"])


async def find_conversation(graph: Graph, caller: Caller, conversation_id: str) -> Row:
    """A conversation as it is kept, for those who may know of it."""
    found = await graph.read(
        "conversations/get_conversation",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        user_id=caller.sees_as,
    )
    if not found:
        raise ConversationNotFound(conversation_id)
    return found[0]


async def list_conversations(
    graph: Graph,
    caller: Caller,
    *,
    instance_id: str | None = None,
    cursor: str | None = None,
    limit: int,
) -> Page[Conversation]:
    rows = await graph.read(
        "conversations/list_conversations",
        tenant_id=caller.tenant_id,
        instance_id=instance_id,
        user_id=caller.sees_as,
        after=after(cursor),
        limit=limit + 1,
    )
    found = [Conversation(**row["conversation"]) for row in rows]
    return page(found, limit, lambda conversation: conversation.id)


async def record_messages(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    messages: Sequence[Message],
    *,
    now: datetime,
) -> list[Message]:
    """Keep what was said: all of it, or, if one id is taken by something else, nothing."""
    conversation = await get_conversation(graph, caller, conversation_id)
    strangers = {message.persona_id for message in messages} - {*conversation.persona_ids}
    if strangers:
        raise Invalid(f"Persona {min(strangers)!r} is not part of this conversation.")
    if len({message.message_id for message in messages}) < len(messages):
        raise Invalid("Two messages of one call have the same id.")

    def as_said(rows: list[Row]) -> list[Message]:
        if not rows:
            raise ConversationNotFound(conversation_id)
        stored = [as_message(row) for row in rows]
        for kept, given in zip(stored, messages, strict=True):
            as_given = replace(
                kept, deprioritization=given.deprioritization, can_forget=given.can_forget
            )
            if as_given != given:
                raise IdTaken("message", given.message_id)
        return stored

    return await graph.write_if(
        as_said,
        "conversations/append_messages",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        messages=[as_stored(message) for message in messages],
        received_at=now,
    )


async def list_messages(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    *,
    cursor: str | None = None,
    limit: int,
    badges_for_all: bool = True,
) -> Page[Message]:
    """What was said, in the order of when it was said, whenever it arrived."""
    seen = await find_conversation(graph, caller, conversation_id)
    sees_all = sees_every_badge(caller, seen, badges_for_all=badges_for_all)
    said_at, message_id = after_moment(cursor)
    rows = await graph.read(
        "conversations/list_messages",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        after_said_at=said_at,
        after_id=message_id,
        limit=limit + 1,
    )
    found = [as_seen(as_message(row), caller, sees_all=sees_all) for row in rows]
    return page(found, limit, lambda message: moment(message.timestamp, message.message_id))


def as_stored(message: Message) -> Row:
    return {
        "id": message.message_id,
        "persona_id": message.persona_id,
        "role": message.role.value,
        "content": message.content,
        "said_at": message.timestamp,
        "user_id": message.user_id,
        "speaker": message.speaker,
        "reply_to": message.reply_to,
        "fingerprint": fingerprint(message.content),
    }


def sees_every_badge(caller: Caller, conversation: Row, *, badges_for_all: bool) -> bool:
    """Whether flags of others are shown too: to a person only when badges are for all, or when
    they are an admin of the instance."""
    return badges_for_all or caller.sees_as is None or bool(conversation["is_admin"])


def as_seen(message: Message, caller: Caller, *, sees_all: bool) -> Message:
    """A message as the caller may see it: whose flags, and whether they may set one."""
    record = message.deprioritization
    shown = sees_all or record.flagged_by == caller.user_id
    return replace(
        message,
        deprioritization=record if shown else Deprioritization(),
        can_forget=caller.role is not Role.ANALYST and not (shown and record.is_flagged),
    )


def as_record(flag: Row | None) -> Deprioritization:
    """The flag on a message as it is told; it stays readable when it was taken back."""
    if flag is None:
        return Deprioritization()
    return Deprioritization(
        is_flagged=flag.get("reversed_at") is None,
        flagged_at=flag["flagged_at"],
        flagged_by=flag["flagged_by"],
        scope=flag["scope"],
        range_id=flag.get("range_id"),
        reversed_at=flag.get("reversed_at"),
        reversal_source=flag.get("reversal_source"),
    )


def as_message(row: Row) -> Message:
    stored = dict(row["message"])
    flag = stored.pop("flag")
    return Message(
        message_id=stored.pop("id"),
        timestamp=stored.pop("said_at"),
        role=Speaker(stored.pop("role")),
        deprioritization=as_record(flag),
        **stored,
    )
