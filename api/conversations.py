"""/api/conversations and what is said in them"""

import contextlib
from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.params import FromQuery, HeaderParameter, QueryParameter
from litestar.response import ServerSentEvent, ServerSentEventMessage, Stream

from api.auth import PEOPLE
from api.bodies import (
    Cursor,
    Limit,
    NewConversation,
    NewMessage,
    NewMessages,
    NewSplit,
    PathId,
    like,
    said_at,
)
from api.errors import problems
from engine.access import Caller, Role
from engine.errors import Forbidden, NotFound
from engine.ids import new_id
from engine.service import Clock, Jobs
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

EXPORTED = {  # the content type and the ending of each format
    ExportFormat.JSONL: ("application/x-ndjson", "jsonl"),
    ExportFormat.MARKDOWN: ("text/markdown", "md"),
}
MessageAsked = Annotated[str | None, QueryParameter(max_length=128)]

SAID = {
    "message_id": "m1",
    "persona_id": "ada",
    "role": "user",
    "content": "I moved to Lisbon in March.",
    "timestamp": "2026-11-16T09:30:00Z",
    "user_id": "sam",
    "speaker": "Sam",
}


def may_say(given: NewMessage, caller: Caller) -> bool:
    """Whether a caller may put these words into this mouth.

    For a user, by a token or by header, only the user's own; a runtime also says what personas say.
    """
    if given.role is Speaker.USER:
        return caller.user_id is None or given.user_id in (None, caller.user_id)
    return caller.role is not Role.USER


async def stream(events: AsyncIterator[Event | None]) -> AsyncIterator[ServerSentEventMessage]:
    """Events as the wire has them. It ends when the caller may no longer see the conversation."""
    with contextlib.suppress(NotFound):
        async for event in events:
            if event is None:
                yield ServerSentEventMessage(comment="still here", data=None)
            else:
                told = msgspec.json.encode(event).decode()
                yield ServerSentEventMessage(data=told, event=event.action, id=event.place)


class ConversationController(Controller):
    path = "/conversations"
    tags = ("conversations",)

    @post(operation_id="add_conversation", guards=[PEOPLE], responses=problems(404, 409, 413))
    async def add(
        self,
        data: Annotated[
            NewConversation, like(id="monday", instance_id="studio", persona_ids=["ada"])
        ],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
    ) -> Conversation:
        """Open a conversation. Sending the same id and content again finds the first."""
        conversation = Conversation(
            id=data.id or new_id(),
            instance_id=data.instance_id,
            persona_ids=sorted(set(data.persona_ids)),
            title=data.title,
            started_at=await clock.now(),
        )
        return await add_conversation(graph, caller, conversation)

    @get(operation_id="list_conversations", responses=problems())
    async def page(
        self,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        instance_id: Annotated[str | None, QueryParameter(max_length=128)] = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Conversation]:
        """Conversations by id; for a user, those of their instances."""
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
        """One conversation."""
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
        data: Annotated[NewMessages, like(messages=[SAID])],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        jobs: NamedDependency[Jobs],
    ) -> list[Message]:
        """Keep what was said, in any order, as often as it is sent. Candidates follow at once."""
        if not all(may_say(given, caller) for given in data.messages):
            raise Forbidden(caller.role, "'runtime' or 'admin' to speak for anybody else")
        messages = [
            Message(
                message_id=given.message_id or new_id(),
                conversation_id=conversation_id,
                persona_id=given.persona_id,
                role=given.role,
                content=given.content,
                timestamp=said_at(given.timestamp),
                user_id=given.user_id or (caller.user_id if given.role is Speaker.USER else None),
                speaker=given.speaker,
                reply_to=given.reply_to,
            )
            for given in data.messages
        ]
        kept = await record_messages(
            graph, caller, conversation_id, messages, now=await clock.now()
        )
        await jobs.send("tasks.jobs.draw_from_conversation", caller.tenant_id, conversation_id)
        return kept

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
        """What was said, in the order of when it was said."""
        return await list_messages(
            graph,
            caller,
            conversation_id,
            cursor=cursor,
            limit=limit,
            badges_for_all=settings.badge_visibility == "conversation",
        )

    @get(
        "/{conversation_id:str}/events",
        operation_id="listen_to_events",
        responses=problems(404),
    )
    async def events(
        self,
        conversation_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        bells: NamedDependency[DeviceNotifier],
        settings: NamedDependency[Settings],
        last_event_id: Annotated[
            str | None,
            HeaderParameter(
                name="Last-Event-ID",
                max_length=20,
                description="Of the last event that was received; a browser sends it by itself.",
            ),
        ] = None,
    ) -> ServerSentEvent:
        """What happens in a conversation, as it happens: flags set and taken back, and by whom.

        Server-sent events. From now on, or from the one after `Last-Event-ID`.
        """
        after = await last_place(graph, caller, conversation_id)
        if last_event_id and last_event_id.isdecimal():
            after = min(after, int(last_event_id))
        heard = listen(
            graph,
            bells,
            caller,
            conversation_id,
            after=after,
            badges_for_all=settings.badge_visibility == "conversation",
        )
        return ServerSentEvent(stream(heard))

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
        """What was talked about, one topic after the other, summed up without what is flagged."""
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
            NewSplit, like(first_message_id="m4", last_message_id="m9", id="the-trip", title="Trip")
        ],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
    ) -> Split:
        """Carry part of a conversation into a new one, as copies that keep their flags."""
        return await split_conversation(
            graph,
            caller,
            conversation_id,
            first_id=data.first_message_id,
            last_id=data.last_message_id,
            chosen_id=data.id,
            title=data.title,
            now=await clock.now(),
        )

    @get(
        "/{conversation_id:str}/export",
        operation_id="export_conversation",
        responses=problems(404),
        response_description="One message a line, or a readable transcript.",
    )
    async def export(
        self,
        conversation_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        settings: NamedDependency[Settings],
        clock: NamedDependency[Clock],
        format: FromQuery[ExportFormat] = ExportFormat.JSONL,  # noqa: A002
        exclude_flagged: FromQuery[bool] = False,
        first_message_id: MessageAsked = None,
        last_message_id: MessageAsked = None,
    ) -> Stream:
        """What was said, as a file: flagged messages are annotated, or left out and counted."""
        pieces = await export_conversation(
            graph,
            caller,
            conversation_id,
            format=format,
            exclude_flagged=exclude_flagged,
            first_id=first_message_id,
            last_id=last_message_id,
            badges_for_all=settings.badge_visibility == "conversation",
            now=await clock.now(),
        )
        media_type, ending = EXPORTED[format]
        return Stream(
            pieces,
            media_type=media_type,
            headers={
                "Content-Disposition": f'attachment; filename="{conversation_id}.{ending}"',
            },
        )
