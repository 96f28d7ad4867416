"""Events of a conversation beside its messages, streamed to every open device.

Events are stored in the graph, numbered in each conversation. A device that was away asks for those
after the last number it saw. A notification through Redis says only that there are new ones. Each
process has one Redis subscriber for all its streams; a stream without notifications polls the graph
slowly, in case a notification was lost.
"""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from engine.access import Caller, audit_event
from engine.models import Row
from engine.store import Graph, answer_within
from engine.talk.conversations import find_conversation, sees_every_badge
from engine.talk.models import Acknowledgment

BATCH_SIZE = 100  # events read at a time
POLL_SECONDS = 30.0  # between two polls while notifications arrive, give or take a fifth
POLL_AGAIN_SECONDS = 1.0  # after a notification whose event could not be read yet
POLL_WITHOUT_REDIS_SECONDS = 3.0  # between two polls while Redis is away
RESUBSCRIBE_SECONDS = 2.0  # between two attempts to subscribe
READ_SECONDS = 7.0  # limit of one poll
KEEPALIVE_SECONDS = 15.0  # after which a stream without events yields None
CHANNEL = "pentimento:events:"
EVERY_CONVERSATION = "*"  # in place of a conversation's id: all conversations of the tenant

log = structlog.get_logger("events")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something done in a conversation, or to candidates or memories drawn from it."""

    place: int  # its number in the conversation, from 1 on
    action: str  # flagged, unflagged, summarized, split, minimized, restored, passed_over, ...
    by: str
    at: datetime
    message_ids: list[str]
    candidate_ids: list[str]
    memory_ids: list[str]
    checkpoint_ids: list[str]
    range_id: str | None
    source: str | None  # of a reversal
    into: str | None  # of a split: the id of the new conversation
    acknowledgment: Acknowledgment | None
    withdrawn: list[str]  # ids of acknowledgments


async def list_events(
    graph: Graph, caller: Caller, conversation_id: str, *, after: int, badges_for_all: bool
) -> list[Event | None]:
    """The next events of a conversation, if the caller may see it.

    None stands for an event that this caller may not see: flags are shown as badges are.
    """
    found = await find_conversation(graph, caller, conversation_id)
    sees_all = sees_every_badge(caller, is_admin=found.is_admin, badges_for_all=badges_for_all)
    rows = await graph.read(
        "talk/events/list_events",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        after=after,
        limit=BATCH_SIZE,
    )
    return [event_from_row(row["event"], caller, sees_all=sees_all) for row in rows]


def event_from_row(row: Row, caller: Caller, *, sees_all: bool) -> Event | None:
    """An event; None if the caller may not see it."""
    properties: dict[str, Any] = dict(row)
    seen_by = properties.pop("seen_by")
    if not (sees_all or seen_by is None or caller.user_id in {properties["by"], *seen_by}):
        return None
    acknowledgment = acknowledgment_from_row(properties.pop("acknowledgment"))
    return Event(**properties, acknowledgment=acknowledgment)


async def last_place(graph: Graph, caller: Caller, conversation_id: str) -> int:
    """The number of the newest event of a conversation, if the caller may see it."""
    await find_conversation(graph, caller, conversation_id)
    (row,) = await graph.read(
        "talk/events/read_last_place", tenant_id=caller.tenant_id, conversation_id=conversation_id
    )
    return int(row["place"])


def channel(tenant_id: str, conversation_id: str) -> str:
    """The Redis channel of a conversation's notifications."""
    return f"{CHANNEL}{tenant_id}:{conversation_id}"


async def record_effect(
    graph: Graph, redis: Redis, caller: Caller, action: str, item_ids: list[str], *, now: datetime
) -> None:
    """Record what was done to candidates or memories in the conversations they were drawn from.

    The events are shown to the authors of the messages, to who flagged them, and to admins.
    """
    rows = await graph.write(
        "talk/events/add_effect_events",
        tenant_id=caller.tenant_id,
        ids=item_ids,
        event=audit_event(caller, action, now),
        of_flags=False,
    )
    for row in rows:
        await notify_devices(redis, caller.tenant_id, row["conversation_id"])


async def notify_conversation(
    _: Graph, redis: Redis, tenant_id: str, conversation_id: str, *, now: datetime
) -> None:
    """`notify_devices` for jobs, which pass a graph and a time to every function."""
    del now
    await notify_devices(redis, tenant_id, conversation_id)


async def notify_devices(
    redis: Redis, tenant_id: str, conversation_id: str = EVERY_CONVERSATION
) -> None:
    """Notify open streams of new events. A lost notification is made up for by the next poll."""
    try:
        await redis.publish(channel(tenant_id, conversation_id), "new")
    except (RedisError, OSError) as error:
        log.warning("notification_not_sent", why=type(error).__name__)


class DeviceNotifier:
    """Passes notifications from Redis to the open streams of this process.

    Subscribed while at least one stream is open. Belongs to one event loop.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._signals: dict[tuple[str, str], set[asyncio.Event]] = {}  # by tenant and conversation
        self._subscriber: asyncio.Task[None] | None = None
        self.is_subscribed = False

    @contextlib.contextmanager
    def listening(self, tenant_id: str, conversation_id: str) -> Iterator[asyncio.Event]:
        """A signal that is set whenever there may be new events in the conversation."""
        signal = asyncio.Event()
        key = (tenant_id, conversation_id)
        self._signals.setdefault(key, set()).add(signal)
        if self._subscriber is None or self._subscriber.done():
            self._subscriber = asyncio.create_task(self._subscribe())
        try:
            yield signal
        finally:
            self._signals[key].discard(signal)
            if not self._signals[key]:
                del self._signals[key]
            if not self._signals:
                self._subscriber.cancel()

    async def close(self) -> None:
        """End the subscription."""
        if self._subscriber is not None:
            self._subscriber.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._subscriber

    async def _subscribe(self) -> None:
        while True:
            try:
                async with self._redis.pubsub() as pubsub:
                    await pubsub.psubscribe(f"{CHANNEL}*")
                    async for message in pubsub.listen():
                        self._dispatch(message)
            except (RedisError, OSError) as error:
                log.warning("event_subscription_lost", why=type(error).__name__)
            finally:
                self.is_subscribed = False
            await asyncio.sleep(RESUBSCRIBE_SECONDS)

    def _dispatch(self, message: dict[str, Any]) -> None:
        """Signal the streams that a message of Redis is about."""
        if message["type"] == "psubscribe":
            self.is_subscribed = True
            self._signal([*self._signals])  # notifications sent before were missed
        elif message["type"] == "pmessage":
            tenant_id, _, conversation_id = message["channel"].removeprefix(CHANNEL).rpartition(":")
            if conversation_id == EVERY_CONVERSATION:
                self._signal([key for key in self._signals if key[0] == tenant_id])
            else:
                self._signal([(tenant_id, conversation_id)])

    def _signal(self, keys: list[tuple[str, str]]) -> None:
        for key in keys:
            for signal in self._signals.get(key, ()):
                signal.set()


async def listen(
    graph: Graph,
    notifier: DeviceNotifier,
    caller: Caller,
    conversation_id: str,
    *,
    after: int,
    badges_for_all: bool,
) -> AsyncIterator[Event | None]:
    """Every event after a number, as it happens; None every 15 seconds while nothing does.

    Each poll checks again whether the caller may see the conversation, and raises if not.
    """
    loop = asyncio.get_running_loop()
    yielded_at = loop.time()
    with notifier.listening(caller.tenant_id, conversation_id) as signal:
        while True:
            was_signalled = signal.is_set()
            signal.clear()
            with answer_within(READ_SECONDS):  # a limit for each poll: the stream has none
                events = await list_events(
                    graph, caller, conversation_id, after=after, badges_for_all=badges_for_all
                )
            after += len(events)  # numbers have no gaps
            for event in filter(None, events):
                yielded_at = loop.time()
                yield event
            if events:
                continue
            poll_at = loop.time() + poll_seconds(notifier, was_signalled=was_signalled)
            while not signal.is_set() and (until_poll := poll_at - loop.time()) > 0:
                until_keepalive = yielded_at + KEEPALIVE_SECONDS - loop.time()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(
                        signal.wait(), max(0.0, min(until_poll, until_keepalive))
                    )
                if not signal.is_set() and loop.time() >= yielded_at + KEEPALIVE_SECONDS:
                    yielded_at = loop.time()
                    yield None


def poll_seconds(notifier: DeviceNotifier, *, was_signalled: bool) -> float:
    """How long a stream waits for a signal before it polls."""
    if not notifier.is_subscribed:
        return POLL_WITHOUT_REDIS_SECONDS
    if was_signalled:  # a replica may lag behind the notification
        return POLL_AGAIN_SECONDS
    return POLL_SECONDS * random.uniform(0.8, 1.2)  # noqa: S311


def acknowledgment_from_row(row: Row | None) -> Acknowledgment | None:
    if row is None:
        return None
    properties = dict(row)
    return Acknowledgment(acknowledgment_id=properties.pop("id"), **properties)
