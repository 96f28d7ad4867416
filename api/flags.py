"""«Forget This»: /api/messages/{id}/forget, ranges, and taking it back"""

from datetime import timedelta
from typing import Annotated

from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.status_codes import HTTP_200_OK
from redis.asyncio import Redis

from api.auth import PEOPLE
from api.bodies import ForgetRange, PathId, Reversal, ReversalOfRange, like
from api.errors import problems
from api.preview import Preview, run_or_preview
from engine.access import Caller
from engine.forgetting import (
    Acknowledger,
    FlagResult,
    FlagRules,
    Range,
    flag_message,
    flag_range,
    get_range,
    undo_message,
    undo_range,
)
from engine.service import Clock
from engine.settings import Settings
from engine.store import Graph
from engine.talk import notify_devices


class FlagController(Controller):
    tags = ("forget this",)

    @post(
        "/messages/{message_id:str}/forget",
        operation_id="forget_message",
        guards=[PEOPLE],
        status_code=HTTP_200_OK,
        responses=problems(404),
    )
    async def forget(
        self,
        message_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        acknowledger: NamedDependency[Acknowledger],
        clock: NamedDependency[Clock],
        settings: NamedDependency[Settings],
        redis: NamedDependency[Redis],
        preview: Preview = False,
    ) -> FlagResult:
        """Flag a message as not worth remembering. One that is flagged already keeps its flag."""
        now = await clock.now()
        done = await run_or_preview(
            graph,
            lambda there: flag_message(
                there, acknowledger, caller, message_id, rules(settings), now=now
            ),
            preview=preview,
        )
        return await tell(done, redis, caller, preview)

    @post(
        "/conversations/{conversation_id:str}/forget-range",
        operation_id="forget_range",
        guards=[PEOPLE],
        status_code=HTTP_200_OK,
        responses=problems(404, 409, 413),
    )
    async def forget_range(
        self,
        conversation_id: PathId,
        data: Annotated[
            ForgetRange, like(first_message_id="m1", last_message_id="m9", confirmed=True)
        ],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        acknowledger: NamedDependency[Acknowledger],
        clock: NamedDependency[Clock],
        settings: NamedDependency[Settings],
        redis: NamedDependency[Redis],
        preview: Preview = False,
    ) -> FlagResult:
        """Flag messages together, from one to another or those that are named, 5,000 at most.

        From three on they have to be confirmed.
        """
        now = await clock.now()
        done = await run_or_preview(
            graph,
            lambda there: flag_range(
                there,
                acknowledger,
                caller,
                conversation_id,
                first_id=data.first_message_id,
                last_id=data.last_message_id,
                message_ids=data.message_ids,
                confirmed=data.confirmed or preview,  # asking what it would touch asks nothing
                rules=rules(settings),
                now=now,
            ),
            preview=preview,
        )
        return await tell(done, redis, caller, preview)

    @post(
        "/messages/{message_id:str}/undo",
        operation_id="undo_message",
        guards=[PEOPLE],
        status_code=HTTP_200_OK,
        responses=problems(404, 409, 413),
    )
    async def undo(
        self,
        message_id: PathId,
        data: Annotated[Reversal, like(source="undo_toast")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        settings: NamedDependency[Settings],
        redis: NamedDependency[Redis],
        preview: Preview = False,
    ) -> FlagResult:
        """Take back the flag of a message: at once in the chat, or later in the Memory Manager."""
        now = await clock.now()
        done = await run_or_preview(
            graph,
            lambda there: undo_message(
                there, caller, message_id, data.source, rules(settings), now=now
            ),
            preview=preview,
        )
        return await tell(done, redis, caller, preview)

    @get("/ranges/{range_id:str}", operation_id="get_range", responses=problems(404))
    async def one(
        self,
        range_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        settings: NamedDependency[Settings],
    ) -> Range:
        """One range of flagged messages, for who flagged them and for admins."""
        badges_for_all = settings.badge_visibility == "conversation"
        return await get_range(graph, caller, range_id, badges_for_all=badges_for_all)

    @post(
        "/ranges/{range_id:str}/undo",
        operation_id="undo_range",
        guards=[PEOPLE],
        status_code=HTTP_200_OK,
        responses=problems(404, 409, 413),
    )
    async def undo_range(
        self,
        range_id: PathId,
        data: Annotated[ReversalOfRange, like(source="memory_manager", message_ids=["m2"])],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        settings: NamedDependency[Settings],
        redis: NamedDependency[Redis],
        preview: Preview = False,
    ) -> FlagResult:
        """Take back the flags of a range, or of part of it."""
        now = await clock.now()
        done = await run_or_preview(
            graph,
            lambda there: undo_range(
                there,
                caller,
                range_id,
                data.source,
                rules(settings),
                message_ids=data.message_ids,
                now=now,
            ),
            preview=preview,
        )
        return await tell(done, redis, caller, preview)


async def tell(done: FlagResult, redis: Redis, caller: Caller, preview: bool) -> FlagResult:
    """What was done, once other open devices have been told that there is something new."""
    if done.changed and not preview:
        await notify_devices(redis, caller.tenant_id, done.conversation_id)
    return done


def rules(settings: Settings) -> FlagRules:
    return FlagRules(
        confirm_from=settings.range_confirm_min,
        undo_window=timedelta(seconds=settings.undo_window_seconds),
        debounce=timedelta(seconds=settings.ack_debounce_seconds),
        badges_for_all=settings.badge_visibility == "conversation",
    )
