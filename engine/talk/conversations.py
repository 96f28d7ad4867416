"""The transcript: conversations, and what was said in them. Recorded once, never changed."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
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
from engine.extraction import fingerprint
from engine.models import Row
from engine.store import Graph, Page, Write, decode_arrival, decode_id, make_page, moment_key
from engine.talk.models import Conversation, Deprioritization, Message, Speaker

MESSAGE_OVERDUE_AFTER = timedelta(
    seconds=30
)  # a message that waited longer was forgotten by the broker
AT_ONCE = 200  # messages of one statement: packing a thousand long ones held the event loop


async def add_conversation(
    graph: Graph, caller: Caller, conversation: Conversation
) -> Conversation:
    """Open a conversation. Asking again with the same id and content finds the first."""
    await get_instance(graph, caller, conversation.instance_id)

    def as_opened(rows: list[Row]) -> Conversation:
        if not rows:
            raise InstanceNotFound(conversation.instance_id)
        if rows[0]["missing"]:
            raise PersonaNotFound(rows[0]["missing"][0])
        stored = Conversation(**rows[0]["conversation"])
        if stored != replace(conversation, started_at=stored.started_at):
            raise IdTaken("conversation", conversation.id)
        return stored

    return await graph.write_if(
        as_opened,
        "talk/conversations/add_conversation",
        tenant_id=caller.tenant_id,
        instance_id=conversation.instance_id,
        persona_ids=conversation.persona_ids,
        conversation={
            "id": conversation.id,
            "title": conversation.title,
            "started_at": conversation.started_at,
        },
        event=audit_event(caller, "conversation_opened", conversation.started_at),
    )


async def get_conversation(graph: Graph, caller: Caller, conversation_id: str) -> Conversation:
    found = await find_conversation(graph, caller, conversation_id)
    return Conversation(**found["conversation"])


async def find_conversation(graph: Graph, caller: Caller, conversation_id: str) -> Row:
    """A conversation as it is kept, for those who may know of it."""
    found = await graph.read(
        "talk/conversations/get_conversation",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        **caller.visibility,
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
        "talk/conversations/list_conversations",
        tenant_id=caller.tenant_id,
        instance_id=instance_id,
        **caller.visibility,
        after=decode_id(cursor),
        limit=limit + 1,
    )
    found = [Conversation(**row["conversation"]) for row in rows]
    return make_page(found, limit, lambda conversation: conversation.id)


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

    # Megabytes of text are normalised here: in a thread, for the loop has others to serve.
    stored = await asyncio.to_thread(lambda: [as_stored(message) for message in messages])

    async def work(write: Write) -> list[Message]:
        await bind_speakers(write, caller, conversation_id, messages)
        rows: list[Row] = []
        for start in range(0, len(stored), AT_ONCE):
            rows += await write(
                "talk/conversations/append_messages",
                tenant_id=caller.tenant_id,
                conversation_id=conversation_id,
                messages=stored[start : start + AT_ONCE],
                received_at=now,
            )
        return as_said(rows)

    return await graph.write_with(work, name="talk/conversations/append_messages")


async def bind_speakers(
    write: Write, caller: Caller, conversation_id: str, messages: Sequence[Message]
) -> None:
    """Keep which user speaks under which name, and refuse a name that is somebody else's.

    A caller who acts for a user speaks under that user's one name in the instance: the first they
    used there. A caller who acts for nobody is the tenant's own system, and may name anybody.
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
        of_personas = {name_key(row["name"]) for row in rows}
        for _, name in sorted(names):
            if name_key(name) in of_personas:
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
    """A name as it is compared: case, marks and spaces do not make another one."""
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
    """What was said, by when it was said; in one second by when it arrived."""
    seen = await find_conversation(graph, caller, conversation_id)
    sees_all = sees_every_badge(caller, seen, badges_for_all=badges_for_all)
    said_at, arrival = decode_arrival(cursor)
    rows = await graph.read(
        "talk/conversations/list_messages",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        after_said_at=said_at,
        after_arrival=arrival,
        limit=limit + 1,
    )
    part = make_page(
        rows, limit, lambda row: moment_key(row["message"]["said_at"], str(row["arrival"]))
    )
    found = [as_seen(as_message(row), caller, sees_all=sees_all) for row in part.items]
    return Page(found, part.next_cursor)


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
        "fingerprint": hashed(fingerprint(message.content)),
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


def flag_record(flag: Row | None) -> Deprioritization:
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
        deprioritization=flag_record(flag),
        **stored,
    )
