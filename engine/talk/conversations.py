"""Conversations and their messages. A message is recorded once and never changed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from engine.access import Caller, Role, audit_event, get_instance
from engine.bounds import hashed, indexed
from engine.errors import (
    ConversationNotFound,
    IdTaken,
    InstanceNotFound,
    Invalid,
    NotYourName,
    PersonaNotFound,
)
from engine.models import Row
from engine.store import Graph, Page, Write, decode_arrival, decode_id, make_page, moment_key
from engine.talk.models import Conversation, Deprioritization, Message, Speaker
from engine.text import fingerprint

# A message that has waited longer for its job was lost by the broker, and is queued again.
MESSAGE_OVERDUE_AFTER = timedelta(seconds=30)
BATCH_SIZE = 200  # messages in one statement: encoding a thousand long ones blocks the event loop


async def add_conversation(
    graph: Graph, caller: Caller, conversation: Conversation
) -> Conversation:
    """Open a conversation. The same one given again, with the same id, returns the first."""
    await get_instance(graph, caller, conversation.instance_id)

    def check_opened(rows: list[Row]) -> Conversation:
        if not rows:
            raise InstanceNotFound(conversation.instance_id)
        if rows[0]["missing"]:
            raise PersonaNotFound(rows[0]["missing"][0])
        stored = conversation_from_row(rows[0]["conversation"])
        if stored != replace(conversation, started_at=stored.started_at):
            raise IdTaken("conversation", conversation.id)
        return stored

    return await graph.write_if(
        check_opened,
        "talk/conversations/add_conversation",
        tenant_id=caller.tenant_id,
        instance_id=conversation.instance_id,
        persona_ids=conversation.persona_ids,
        conversation=conversation_properties(conversation),
        event=audit_event(caller, "conversation_opened", conversation.started_at),
    )


async def get_conversation(graph: Graph, caller: Caller, conversation_id: str) -> Conversation:
    """One conversation, if the caller may see it."""
    return (await find_conversation(graph, caller, conversation_id)).conversation


@dataclass(frozen=True, slots=True)
class FoundConversation:
    """A conversation, and whether the caller is an admin of its instance."""

    conversation: Conversation
    is_admin: bool


async def find_conversation(
    graph: Graph, caller: Caller, conversation_id: str
) -> FoundConversation:
    """A conversation, if the caller may see it, and what the caller is in its instance."""
    rows = await graph.read(
        "talk/conversations/get_conversation",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        **caller.visibility,
    )
    if not rows:
        raise ConversationNotFound(conversation_id)
    return FoundConversation(conversation_from_row(rows[0]["conversation"]), rows[0]["is_admin"])


async def list_conversations(
    graph: Graph,
    caller: Caller,
    *,
    instance_id: str | None = None,
    cursor: str | None = None,
    limit: int,
) -> Page[Conversation]:
    """The conversations of a tenant, or of one instance, that the caller may see."""
    rows = await graph.read(
        "talk/conversations/list_conversations",
        tenant_id=caller.tenant_id,
        instance_id=instance_id,
        **caller.visibility,
        after=decode_id(cursor),
        limit=limit + 1,
    )
    conversations = [conversation_from_row(row["conversation"]) for row in rows]
    return make_page(conversations, limit, lambda conversation: conversation.id)


async def record_messages(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    messages: Sequence[Message],
    *,
    now: datetime,
) -> list[Message]:
    """Record messages, all or none; none if one of their ids belongs to another message.

    Idempotent: a message that is given again is returned as it was recorded.
    """
    conversation = await get_conversation(graph, caller, conversation_id)
    strangers = {message.persona_id for message in messages} - {*conversation.persona_ids}
    if strangers:
        raise Invalid(f"Persona {min(strangers)!r} is not part of this conversation.")
    if len({message.message_id for message in messages}) < len(messages):
        raise Invalid("Two messages of one call have the same id.")

    # In a thread, because normalising megabytes of text would block the event loop.
    properties = await asyncio.to_thread(
        lambda: [message_properties(message) for message in messages]
    )

    async def work(write: Write) -> list[Message]:
        await bind_speakers(write, caller, conversation_id, messages)
        rows: list[Row] = []
        for start in range(0, len(properties), BATCH_SIZE):
            rows += await write(
                "talk/conversations/append_messages",
                tenant_id=caller.tenant_id,
                conversation_id=conversation_id,
                messages=properties[start : start + BATCH_SIZE],
                received_at=now,
            )
        if not rows:
            raise ConversationNotFound(conversation_id)
        return check_recorded(rows, messages)

    return await graph.write_with(work, name="talk/conversations/append_messages")


def check_recorded(rows: Sequence[Row], messages: Sequence[Message]) -> list[Message]:
    """The messages as they are stored. Refuses an id under which another message is stored."""
    stored = [message_from_row(row["message"]) for row in rows]
    for recorded, given in zip(stored, messages, strict=True):
        without_flag = replace(
            recorded, deprioritization=given.deprioritization, can_forget=given.can_forget
        )
        if without_flag != given:
            raise IdTaken("message", given.message_id)
    return stored


async def bind_speakers(
    write: Write, caller: Caller, conversation_id: str, messages: Sequence[Message]
) -> None:
    """Record which user speaks under which name, and refuse a name that is somebody else's.

    A caller who acts for a user may use only that user's name in the instance: the first that the
    user used there. A caller who acts for no user is the tenant's own system, and may use any name.
    """
    trusted = caller.user_id is None
    names = {
        (message.user_id, message.speaker)
        for message in messages
        if message.role is Speaker.USER and message.user_id and message.speaker
    }
    if not names:
        return
    if not trusted:
        rows = await write(
            "talk/conversations/list_persona_names",
            tenant_id=caller.tenant_id,
            conversation_id=conversation_id,
        )
        persona_names = {name_key(row["name"]) for row in rows}
        for _, name in sorted(names):
            if name_key(name) in persona_names:
                raise NotYourName(name)
    bound = await write(
        "talk/conversations/bind_speakers",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        names=[
            {"user_id": user_id, "name": name, "key": name_key(name), "trusted": trusted}
            for user_id, name in sorted(names)
        ],
    )
    for row in bound:
        if not trusted and (row["taken"] or row["held"]):
            raise NotYourName(row["name"], row["held"])


def name_key(name: str) -> str:
    """A name as it is compared: without case, marks and extra spaces."""
    return indexed(fingerprint(name) or name)


async def list_messages(
    graph: Graph,
    caller: Caller,
    conversation_id: str,
    *,
    cursor: str | None = None,
    limit: int,
    badges_for_all: bool = True,
) -> Page[Message]:
    """The messages of a conversation, by when they were said, then by when they arrived."""
    found = await find_conversation(graph, caller, conversation_id)
    sees_all = sees_every_badge(caller, is_admin=found.is_admin, badges_for_all=badges_for_all)
    said_at, arrival = decode_arrival(cursor)
    rows = await graph.read(
        "talk/conversations/list_messages",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        after_said_at=said_at,
        after_arrival=arrival,
        limit=limit + 1,
    )
    page = make_page(
        rows, limit, lambda row: moment_key(row["message"]["said_at"], str(row["arrival"]))
    )
    messages = [
        as_shown(message_from_row(row["message"]), caller, sees_all=sees_all) for row in page.items
    ]
    return Page(messages, page.next_cursor)


def conversation_properties(conversation: Conversation) -> Row:
    """A conversation as it is stored."""
    return {
        "id": conversation.id,
        "title": conversation.title,
        "started_at": conversation.started_at,
    }


def conversation_from_row(row: Row) -> Conversation:
    return Conversation(**row)


def message_properties(message: Message) -> Row:
    """A message as it is stored, with the fingerprint by which repeats are found."""
    return {
        "id": message.message_id,
        "persona_id": message.persona_id,
        "role": message.role.value,
        "content": message.content,
        "said_at": message.timestamp,
        "user_id": message.user_id,
        "speaker": message.speaker,
        "reply_to": message.reply_to,
        "fingerprint": hashed(fingerprint(message.content)),
    }


def message_from_row(row: Row) -> Message:
    """A message as it was said, with its flag."""
    properties = dict(row)
    flag = properties.pop("flag")
    return Message(
        message_id=properties.pop("id"),
        timestamp=properties.pop("said_at"),
        role=Speaker(properties.pop("role")),
        deprioritization=flag_record(flag),
        **properties,
    )


def flag_record(flag: Row | None) -> Deprioritization:
    """The flag on a message, also when it was undone; empty if there never was one."""
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


def sees_every_badge(caller: Caller, *, is_admin: bool, badges_for_all: bool) -> bool:
    """Whether the caller sees the flags of others too.

    Keys of the tenant do, and admins of the conversation's instance; other users only if the
    operator shows badges to all.
    """
    return badges_for_all or caller.sees_as is None or is_admin


def as_shown(message: Message, caller: Caller, *, sees_all: bool) -> Message:
    """A message without a flag that the caller may not see, and whether the caller may flag it."""
    flag = message.deprioritization
    is_shown = sees_all or flag.flagged_by == caller.user_id
    return replace(
        message,
        deprioritization=flag if is_shown else Deprioritization(),
        can_forget=caller.role is not Role.ANALYST and not (is_shown and flag.is_flagged),
    )
