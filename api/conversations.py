"""/api/conversations: messages, events, checkpoints, splits and exports"""

import contextlib
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated

import msgspec
from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.params import FromQuery, HeaderParameter
from litestar.response import ServerSentEvent, ServerSentEventMessage, Stream

from api.auth import PEOPLE
from api.bodies import NewConversation, NewMessage, NewMessages, NewSplit, body_example
from api.errors import problems
from api.parameters import Cursor, Limit, PathId, QueryId, message_time
from engine.access import Caller, Role
from engine.errors import Forbidden, NotFound
from engine.ids import new_id
from engine.service import Jobs
from engine.settings import Settings
from engine.store import Graph, Page
from engine.talk import (
    Checkpoint,
    Conversation,
    DeviceNotifier,
    Event,
    ExportFormat,
    Message,
    Speaker,
    Split,
    add_conversation,
    export_conversation,
    get_conversation,
    last_place,
    list_checkpoints,
    list_conversations,
    list_messages,
    listen,
    record_messages,
    split_conversation,
)

EXPORT_TYPES = {  # media type and file extension of each format
    ExportFormat.JSONL: ("application/x-ndjson", "jsonl"),
    ExportFormat.MARKDOWN: ("text/markdown", "md"),
}
EXAMPLE_MESSAGE = {
    "message_id": "m1",
    "persona_id": "ada",
    "role": "user",
    "content": "I moved to Lisbon in March.",
    "timestamp": "2026-11-16T09:30:00Z",
    "user_id": "sam",
    "speaker": "Sam",
}


def may_record(message: NewMessage, caller: Caller) -> bool:
    """Whether a caller may record a message in this speaker's name.

    Who acts as a user, by token or by header, records that user's words only. Personas' messages
    need a key.
    """
    if message.role is Speaker.USER:
        return caller.user_id is None or message.user_id in (None, caller.user_id)
    return caller.role is not Role.USER


def as_message(body: NewMessage, conversation_id: str, caller: Caller) -> Message:
    """The message to store. A user's message without a user is the caller's own."""
    own_user_id = caller.user_id if body.role is Speaker.USER else None
    return Message(
        message_id=body.message_id or new_id(),
        conversation_id=conversation_id,
        persona_id=body.persona_id,
        role=body.role,
        content=body.content,
        timestamp=message_time(body.timestamp),
        user_id=body.user_id or own_user_id,
        speaker=body.speaker,
        reply_to=body.reply_to,
    )


async def as_server_sent(
    events: AsyncIterator[Event | None],
) -> AsyncIterator[ServerSentEventMessage]:
    """Events in the form of server-sent events, with a comment while nothing happens.

    The stream ends when the caller may no longer see the conversation.
    """
    with contextlib.suppress(NotFound):
        async for event in events:
            if event is None:
                yield ServerSentEventMessage(comment="still here", data=None)
            else:
                data = msgspec.json.encode(event).decode()
                yield ServerSentEventMessage(data=data, event=event.action, id=event.place)


class ConversationController(Controller):
    path = "/conversations"
    tags = ("conversations",)

    @post(operation_id="add_conversation", guards=[PEOPLE], responses=problems(404, 409, 413))
    async def add(
        self,
        data: Annotated[
            NewConversation, body_example(id="monday", instance_id="studio", persona_ids=["ada"])
        ],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
    ) -> Conversation:
        """Open a conversation in an instance, with one or more personas.

        Sending the same id and content again returns the first one.
        """
        conversation = Conversation(
            id=data.id or new_id(),
            instance_id=data.instance_id,
            persona_ids=sorted(set(data.persona_ids)),
            title=data.title,
            started_at=now,
        )
        return await add_conversation(graph, caller, conversation)

    @get(operation_id="list_conversations", responses=problems())
    async def page(
        self,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        instance_id: QueryId = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Conversation]:
        """List conversations, by id. A user sees those of the instances they are a member of."""
        return await list_conversations(
            graph, caller, instance_id=instance_id, cursor=cursor, limit=limit
        )

    @get("/{conversation_id:str}", operation_id="get_conversation", responses=problems(404))
    async def one(
        self,
        conversation_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
    ) -> Conversation:
        """Get one conversation."""
        return await get_conversation(graph, caller, conversation_id)

    @post(
        "/{conversation_id:str}/messages",
        operation_id="record_messages",
        guards=[PEOPLE],
        responses=problems(404, 409, 413),
    )
    async def record(
        self,
        conversation_id: PathId,
        data: Annotated[NewMessages, body_example(messages=[EXAMPLE_MESSAGE])],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
        jobs: NamedDependency[Jobs],
    ) -> list[Message]:
        """Record messages of a conversation, in any order, up to 1,000 at a time.

        A message with the same id and content is recorded once, however often it is sent. A
        worker then draws candidates from the messages.
        """
        if not all(may_record(message, caller) for message in data.messages):
            raise Forbidden(caller.role, "'runtime' or 'admin' to speak for anybody else")
        messages = [as_message(message, conversation_id, caller) for message in data.messages]
        recorded = await record_messages(graph, caller, conversation_id, messages, now=now)
        await jobs.send("tasks.jobs.draw_from_conversation", caller.tenant_id, conversation_id)
        return recorded

    @get("/{conversation_id:str}/messages", operation_id="list_messages", responses=problems(404))
    async def messages(
        self,
        conversation_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        settings: NamedDependency[Settings],
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Message]:
        """List the messages of a conversation, in the order in which they were said."""
        return await list_messages(
            graph,
            caller,
            conversation_id,
            cursor=cursor,
            limit=limit,
            badges_for_all=settings.badges_for_all,
        )

    @get(
        "/{conversation_id:str}/events",
        operation_id="listen_to_events",
        summary="Stream events of a conversation",
        opt={"uncompressed": True},  # compression would hold events back in its buffer
        responses=problems(404),
    )
    async def events(
        self,
        conversation_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        notifier: NamedDependency[DeviceNotifier],
        settings: NamedDependency[Settings],
        last_event_id: Annotated[
            str | None,
            HeaderParameter(
                name="Last-Event-ID",
                max_length=20,
                description="Id of the last event received. Browsers send it when they reconnect.",
            ),
        ] = None,
    ) -> ServerSentEvent:
        """What happens in a conversation, while it happens: flags, undos, summaries, splits.

        A stream of server-sent events that starts now, or after the event that `Last-Event-ID`
        names.
        """
        after = await last_place(graph, caller, conversation_id)
        if last_event_id and last_event_id.isdecimal():
            after = min(after, int(last_event_id))
        events = listen(
            graph,
            notifier,
            caller,
            conversation_id,
            after=after,
            badges_for_all=settings.badges_for_all,
        )
        return ServerSentEvent(as_server_sent(events))

    @get(
        "/{conversation_id:str}/checkpoints",
        operation_id="list_checkpoints",
        responses=problems(404),
    )
    async def checkpoints(
        self,
        conversation_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Checkpoint]:
        """List summaries of a conversation, one for each topic, without flagged messages."""
        return await list_checkpoints(graph, caller, conversation_id, cursor=cursor, limit=limit)

    @post(
        "/{conversation_id:str}/split",
        operation_id="split_conversation",
        guards=[PEOPLE],
        responses=problems(404, 409, 413),
    )
    async def split(
        self,
        conversation_id: PathId,
        data: Annotated[
            NewSplit,
            body_example(first_message_id="m4", last_message_id="m9", id="the-trip", title="Trip"),
        ],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
    ) -> Split:
        """Copy part of a conversation into a new one. Copied messages keep their flags."""
        return await split_conversation(
            graph,
            caller,
            conversation_id,
            first_id=data.first_message_id,
            last_id=data.last_message_id,
            chosen_id=data.id,
            title=data.title,
            now=now,
        )

    @get(
        "/{conversation_id:str}/export",
        operation_id="export_conversation",
        responses=problems(404),
        response_description="One message on each line, or a readable transcript.",
    )
    async def export(
        self,
        conversation_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        settings: NamedDependency[Settings],
        now: NamedDependency[datetime],
        format: FromQuery[ExportFormat] = ExportFormat.JSONL,  # noqa: A002
        exclude_flagged: FromQuery[bool] = False,
        first_message_id: QueryId = None,
        last_message_id: QueryId = None,
    ) -> Stream:
        """Download a conversation as JSON lines or Markdown.

        Flagged messages are marked as such; with `exclude_flagged` they are left out and counted.
        """
        pieces = await export_conversation(
            graph,
            caller,
            conversation_id,
            format=format,
            exclude_flagged=exclude_flagged,
            first_id=first_message_id,
            last_id=last_message_id,
            badges_for_all=settings.badges_for_all,
            now=now,
        )
        media_type, extension = EXPORT_TYPES[format]
        return Stream(
            pieces,
            media_type=media_type,
            headers={
                "Content-Disposition": f'attachment; filename="{conversation_id}.{extension}"',
            },
        )
