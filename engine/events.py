"""What happens in a conversation beside what is said, told to everybody who listens.

Events are kept in the graph, numbered in each conversation; that is the truth, and a device that
was away asks for those after the last it saw. A bell through Redis only says that there are new
ones.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

import structlog
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from engine.conversations import find_conversation, sees_every_badge
from engine.flags import as_acknowledgment
from engine.graph import Graph, answer_within
from engine.models import Acknowledgment, Caller

AT_ONCE = 100  # events read together
LISTEN = 1.0  # seconds between two looks, when no bell is heard
PATIENCE = 7.0  # seconds for one look
QUIET = 15.0  # seconds after which a listener is told that nothing has happened

log = structlog.get_logger("events")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a conversation."""

    place: int  # its number in the conversation, from 1 on
    action: str  # flagged, unflagged
    by: str
    at: datetime
    message_ids: list[str]
    range_id: str | None = None
    source: str | None = None  # of a reversal
    acknowledgment: Acknowledgment | None = None


async def list_events(
    graph: Graph, caller: Caller, conversation_id: str, *, after: int, badges_for_all: bool
) -> list[Event | None]:
    """The next events of a conversation, for those who may see it.

    None stands for one that is not this caller's to see: who flagged what is shown as badges are.
    """
    seen = await find_conversation(graph, caller, conversation_id)
    sees_all = sees_every_badge(caller, seen, badges_for_all=badges_for_all)
    rows = await graph.read(
        "events/list_events",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        after=after,
        limit=AT_ONCE,
    )
    events: list[Event | None] = []
    for row in rows:
        told = dict(row["event"])
        if not sees_all and told["by"] != caller.user_id:
            events.append(None)
            continue
        said = as_acknowledgment(told.pop("acknowledgment"))
        events.append(Event(**told, acknowledgment=said))
    return events


async def last_place(graph: Graph, caller: Caller, conversation_id: str) -> int:
    await find_conversation(graph, caller, conversation_id)
    (row,) = await graph.read(
        "events/last_place", tenant_id=caller.tenant_id, conversation_id=conversation_id
    )
    return int(row["place"])


def channel(tenant_id: str, conversation_id: str) -> str:
    return f"pentimento:events:{tenant_id}:{conversation_id}"


async def ring(redis: Redis, tenant_id: str, conversation_id: str) -> None:
    """Say that there is something new. Who does not hear it finds it a moment later."""
    try:
        await redis.publish(channel(tenant_id, conversation_id), "new")
    except (RedisError, OSError) as error:
        log.warning("bell_not_rung", why=type(error).__name__)


async def listen(
    graph: Graph,
    redis: Redis,
    caller: Caller,
    conversation_id: str,
    *,
    after: int,
    badges_for_all: bool,
) -> AsyncIterator[Event | None]:
    """Every event after a place, as it happens; None now and then, while nothing does.

    Each look asks again whether the caller may see the conversation, and ends when they may not.
    """
    quiet = 0.0
    async with redis.pubsub(ignore_subscribe_messages=True) as bell:
        subscribed = False
        while True:
            if not subscribed:
                subscribed = await subscribe(bell, channel(caller.tenant_id, conversation_id))
            with answer_within(PATIENCE):  # of its own: this request has no end
                events = await list_events(
                    graph, caller, conversation_id, after=after, badges_for_all=badges_for_all
                )
            after += len(events)  # their places follow each other without a gap
            for event in filter(None, events):
                quiet = 0.0
                yield event
            if events:
                continue
            try:
                if subscribed:
                    await bell.get_message(timeout=LISTEN)
                else:
                    await asyncio.sleep(LISTEN)
            except (RedisError, OSError):
                subscribed = False
                await asyncio.sleep(LISTEN)
            quiet += LISTEN
            if quiet >= QUIET:
                quiet = 0.0
                yield None


async def subscribe(bell: PubSub, name: str) -> bool:
    try:
        await bell.subscribe(name)
    except (RedisError, OSError):
        return False
    return True
