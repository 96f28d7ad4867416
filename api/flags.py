"""«Forget This»: /api/messages/{id}/forget, ranges of messages, and undo"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from litestar import Controller, get, post
from litestar.di import NamedDependency, Provide
from litestar.status_codes import HTTP_200_OK
from redis.asyncio import Redis

from api.auth import PEOPLE
from api.bodies import ForgetRange, RangeReversal, Reversal, body_example
from api.errors import problems
from api.parameters import PathId
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
from engine.settings import Settings
from engine.store import Graph
from engine.talk import notify_devices


@dataclass(frozen=True, slots=True)
class FlagChange:
    """Runs a caller's flag or undo, or previews it, and notifies open devices of a real one."""

    caller: Caller
    graph: Graph
    redis: Redis
    rules: FlagRules
    now: datetime

    async def run(
        self, work: Callable[[Graph], Awaitable[FlagResult]], *, preview: bool
    ) -> FlagResult:
        result = await run_or_preview(self.graph, work, preview=preview)
        if result.changed and not preview:
            await notify_devices(self.redis, self.caller.tenant_id, result.conversation_id)
        return result


def provide_flag_change(
    caller: NamedDependency[Caller],
    graph: NamedDependency[Graph],
    redis: NamedDependency[Redis],
    settings: NamedDependency[Settings],
    now: NamedDependency[datetime],
) -> FlagChange:
    rules = FlagRules(
        confirm_from=settings.range_confirm_min,
        undo_window=timedelta(seconds=settings.undo_window_seconds),
        debounce=timedelta(seconds=settings.ack_debounce_seconds),
        badges_for_all=settings.badges_for_all,
    )
    return FlagChange(caller, graph, redis, rules, now)


class FlagController(Controller):
    tags = ("forget this",)
    dependencies = {"change": Provide(provide_flag_change, sync_to_thread=False)}  # noqa: RUF012

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
        change: NamedDependency[FlagChange],
        acknowledger: NamedDependency[Acknowledger],
        preview: Preview = False,
    ) -> FlagResult:
        """Flag a message as not worth remembering.

        Candidates drawn from it stay out of the night; memories drawn from it are minimized.
        Nothing is deleted, and a message that is flagged already keeps its flag.
        """
        return await change.run(
            lambda graph: flag_message(
                graph, acknowledger, change.caller, message_id, change.rules, now=change.now
            ),
            preview=preview,
        )

    @post(
        "/conversations/{conversation_id:str}/forget-range",
        operation_id="forget_range",
        summary="Forget a range of messages",
        guards=[PEOPLE],
        status_code=HTTP_200_OK,
        responses=problems(404, 409, 413),
    )
    async def forget_range(
        self,
        conversation_id: PathId,
        data: Annotated[
            ForgetRange,
            body_example(first_message_id="m1", last_message_id="m9", confirmed=True),
        ],
        change: NamedDependency[FlagChange],
        acknowledger: NamedDependency[Acknowledger],
        preview: Preview = False,
    ) -> FlagResult:
        """Flag several messages of a conversation together, at most 5,000.

        Either all from `first_message_id` to `last_message_id`, or those in `message_ids`. Three
        messages and more need `confirmed: true`; without it the answer is 409.
        """
        return await change.run(
            lambda graph: flag_range(
                graph,
                acknowledger,
                change.caller,
                conversation_id,
                first_id=data.first_message_id,
                last_id=data.last_message_id,
                message_ids=data.message_ids,
                confirmed=data.confirmed or preview,  # a preview needs no confirmation
                rules=change.rules,
                now=change.now,
            ),
            preview=preview,
        )

    @post(
        "/messages/{message_id:str}/undo",
        operation_id="undo_message",
        summary="Undo the flag of a message",
        guards=[PEOPLE],
        status_code=HTTP_200_OK,
        responses=problems(404, 409, 413),
    )
    async def undo(
        self,
        message_id: PathId,
        data: Annotated[Reversal, body_example(source="undo_toast")],
        change: NamedDependency[FlagChange],
        preview: Preview = False,
    ) -> FlagResult:
        """Take back the flag of a message: what it held down comes back, but for other flags.

        `undo_toast` is the undo that the chat offers for some seconds, later refused with 409;
        `memory_manager` works at any time. A candidate that a night has left out meanwhile needs
        `restore` besides.
        """
        return await change.run(
            lambda graph: undo_message(
                graph, change.caller, message_id, data.source, change.rules, now=change.now
            ),
            preview=preview,
        )

    @get("/ranges/{range_id:str}", operation_id="get_range", responses=problems(404))
    async def one(
        self,
        range_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        settings: NamedDependency[Settings],
    ) -> Range:
        """Get a range of messages that were flagged together.

        For the user who flagged them, and for admins.
        """
        return await get_range(graph, caller, range_id, badges_for_all=settings.badges_for_all)

    @post(
        "/ranges/{range_id:str}/undo",
        operation_id="undo_range",
        summary="Undo the flags of a range",
        guards=[PEOPLE],
        status_code=HTTP_200_OK,
        responses=problems(404, 409, 413),
    )
    async def undo_range(
        self,
        range_id: PathId,
        data: Annotated[RangeReversal, body_example(source="memory_manager", message_ids=["m2"])],
        change: NamedDependency[FlagChange],
        preview: Preview = False,
    ) -> FlagResult:
        """Take back the flags of a whole range, or only of the messages in `message_ids`."""
        return await change.run(
            lambda graph: undo_range(
                graph,
                change.caller,
                range_id,
                data.source,
                change.rules,
                message_ids=data.message_ids,
                now=change.now,
            ),
            preview=preview,
        )
