"""What happens in a conversation beside what is said, told to everybody who listens.

Events are kept in the graph, numbered in each conversation; that is the truth, and a device that
was away asks for those after the last it saw. A bell through Redis says that there are new ones.
One subscriber of each process hears all bells, so that a stream in which nothing happens costs
nothing but a slow look, in case a bell was lost.
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

AT_ONCE = 100  # events read together
LOOK_SECONDS = 30.0  # between two looks while bells are heard, give or take a fifth
LOOK_AGAIN = 1.0  # seconds until a second look after a bell that told of nothing that is there yet
LOOK_WITHOUT_BELLS = 3.0  # seconds between two looks while Redis is away
SUBSCRIBE_AGAIN = 2.0  # seconds between two tries
PATIENCE = 7.0  # seconds for one look
QUIET = 15.0  # seconds after which a listener is told that nothing has happened
CHANNEL = "pentimento:events:"
EVERY_CONVERSATION = "*"  # in place of a conversation: something happened in some of the tenant's

log = structlog.get_logger("events")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened in a conversation, or later to what was drawn from it."""

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
    into: str | None  # the conversation that part of this one was carried into
    acknowledgment: Acknowledgment | None
    withdrawn: list[str]  # ids of acknowledgments


async def list_events(
    graph: Graph, caller: Caller, conversation_id: str, *, after: int, badges_for_all: bool
) -> list[Event | None]:
    """The next events of a conversation, for those who may see it.

    None stands for one that is not this caller's to see: who flagged what is shown as badges are.
    """
    seen = await find_conversation(graph, caller, conversation_id)
    sees_all = sees_every_badge(caller, seen, badges_for_all=badges_for_all)
    rows = await graph.read(
        "talk/events/list_events",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        after=after,
        limit=AT_ONCE,
    )
    return [as_event(row["event"], caller, sees_all=sees_all) for row in rows]


def as_event(stored: Row, caller: Caller, *, sees_all: bool) -> Event | None:
    """An event as the caller may see it: all of it, or None."""
    event: dict[str, Any] = dict(stored)
    seen_by = event.pop("seen_by")
    if not (sees_all or seen_by is None or caller.user_id in {event["by"], *seen_by}):
        return None
    return Event(**{**event, "acknowledgment": as_acknowledgment(event["acknowledgment"])})


async def last_place(graph: Graph, caller: Caller, conversation_id: str) -> int:
    await find_conversation(graph, caller, conversation_id)
    (row,) = await graph.read(
        "talk/events/read_last_place", tenant_id=caller.tenant_id, conversation_id=conversation_id
    )
    return int(row["place"])


def channel(tenant_id: str, conversation_id: str) -> str:
    return f"{CHANNEL}{tenant_id}:{conversation_id}"


async def record_effect(
    graph: Graph, redis: Redis, caller: Caller, action: str, item_ids: list[str], *, now: datetime
) -> None:
    """Tell the conversations that candidates or memories were drawn from what was done to them.

    Seen by those whose messages they are, by who flagged these, and as every event by admins.
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
    """Ring from a job, which hands every function its graph and its time."""
    del now
    await notify_devices(redis, tenant_id, conversation_id)


async def notify_devices(
    redis: Redis, tenant_id: str, conversation_id: str = EVERY_CONVERSATION
) -> None:
    """Say that there is something new. Who does not hear it finds it at the next slow look."""
    try:
        await redis.publish(channel(tenant_id, conversation_id), "new")
    except (RedisError, OSError) as error:
        log.warning("bell_not_rung", why=type(error).__name__)


class DeviceNotifier:
    """The bells of all conversations, heard once in each process and handed to its open streams.

    Subscribed while somebody listens. Belongs to one event loop.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._listening: dict[tuple[str, str], set[asyncio.Event]] = {}
        self._subscriber: asyncio.Task[None] | None = None
        self.heard = False  # whether bells are heard now

    @contextlib.contextmanager
    def listening(self, tenant_id: str, conversation_id: str) -> Iterator[asyncio.Event]:
        """An event that is set whenever something may have happened in the conversation."""
        bell = asyncio.Event()
        where = (tenant_id, conversation_id)
        self._listening.setdefault(where, set()).add(bell)
        if self._subscriber is None or self._subscriber.done():
            self._subscriber = asyncio.create_task(self._subscribe())
        try:
            yield bell
        finally:
            self._listening[where].discard(bell)
            if not self._listening[where]:
                del self._listening[where]
            if not self._listening:
                self._subscriber.cancel()

    async def close(self) -> None:
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
                        self._hand_on(message)
            except (RedisError, OSError) as error:
                log.warning("bells_not_heard", why=type(error).__name__)
            finally:
                self.heard = False
            await asyncio.sleep(SUBSCRIBE_AGAIN)

    def _hand_on(self, message: dict[str, Any]) -> None:
        if message["type"] == "psubscribe":
            self.heard = True  # and whatever happened before that is looked for
            self._wake([*self._listening])
        elif message["type"] == "pmessage":
            tenant_id, _, conversation_id = message["channel"].removeprefix(CHANNEL).rpartition(":")
            if conversation_id == EVERY_CONVERSATION:
                self._wake([where for where in self._listening if where[0] == tenant_id])
            else:
                self._wake([(tenant_id, conversation_id)])

    def _wake(self, places: list[tuple[str, str]]) -> None:
        for where in places:
            for bell in self._listening.get(where, ()):
                bell.set()


async def listen(
    graph: Graph,
    bells: DeviceNotifier,
    caller: Caller,
    conversation_id: str,
    *,
    after: int,
    badges_for_all: bool,
) -> AsyncIterator[Event | None]:
    """Every event after a place, as it happens; None now and then, while nothing does.

    Each look asks again whether the caller may see the conversation, and ends when they may not.
    """
    loop = asyncio.get_running_loop()
    spoken_at = loop.time()
    with bells.listening(caller.tenant_id, conversation_id) as bell:
        while True:
            rung = bell.is_set()
            bell.clear()
            with answer_within(PATIENCE):  # of its own: this request has no end
                events = await list_events(
                    graph, caller, conversation_id, after=after, badges_for_all=badges_for_all
                )
            after += len(events)  # their places follow each other without a gap
            for event in filter(None, events):
                spoken_at = loop.time()
                yield event
            if events:
                continue
            look_at = loop.time() + seconds_to_look(bells, rung=rung)
            while not bell.is_set() and (left := look_at - loop.time()) > 0:
                quiet = spoken_at + QUIET - loop.time()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(bell.wait(), max(0.0, min(left, quiet)))
                if not bell.is_set() and loop.time() >= spoken_at + QUIET:
                    spoken_at = loop.time()
                    yield None


def seconds_to_look(bells: DeviceNotifier, *, rung: bool) -> float:
    """How long a stream waits for a bell before it looks by itself."""
    if not bells.heard:
        return LOOK_WITHOUT_BELLS
    if rung:  # a replica may be a moment behind the bell
        return LOOK_AGAIN
    return LOOK_SECONDS * random.uniform(0.8, 1.2)  # noqa: S311


def as_acknowledgment(stored: Row | None) -> Acknowledgment | None:
    if stored is None:
        return None
    told = dict(stored)
    return Acknowledgment(told.pop("id"), **told)
