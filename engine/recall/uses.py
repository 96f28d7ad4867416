"""Uses of memories on their way from an answer to the graph: nobody waits, and none is lost.

Whoever answered tells a Redis stream which memories it handed out; a job counts them later. What a
job has read and not acknowledged when it dies is read by another, and a use that is counted twice
counts once.
"""

import contextlib
from collections import deque
from datetime import datetime, timedelta
from typing import Any

import msgspec
import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from engine.memory import Use, count_uses
from engine.store import Graph

STREAM = "pentimento:uses"
GROUP = "counting"
READER = "any"  # all of them: who has read what does not matter, only since when
AT_ONCE = 100  # uses, as one transaction
STALE = timedelta(seconds=30)  # what nobody has acknowledged for so long is read by another
MOST_KEPT = 100_000  # uses that wait in a process while Redis is away

log = structlog.get_logger("uses")


class UseLog:
    """Where answers leave what they handed out."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._waiting: deque[bytes] = deque(maxlen=MOST_KEPT)

    async def record(self, use: Use) -> None:
        """Tell of a use. While Redis is away it waits here, and goes with the next."""
        self._waiting.append(msgspec.json.encode(use))
        try:
            while self._waiting:
                told = self._waiting.popleft()
                try:
                    await self._redis.xadd(STREAM, {"use": told})
                except BaseException:
                    self._waiting.appendleft(told)
                    raise
        except (RedisError, OSError) as error:
            log.warning("uses_wait", why=str(error), waiting=len(self._waiting))


async def count_recorded_uses(graph: Graph, redis: Redis, *, now: datetime) -> int:
    """Count every use that was told until now and not counted yet. Returns how many there were.

    Those that are told while it counts are left to the next, or it might never end.
    """
    with contextlib.suppress(ResponseError):  # it is there already
        await redis.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
    counted = 0
    last = now
    while last <= now and (entries := await next_uses(redis)):
        uses = [msgspec.json.decode(it["use"], type=Use) for it in entries.values()]
        last = min(use.at for use in uses)
        await count_uses(graph, uses, whole=False)
        async with redis.pipeline() as both:
            both.xack(STREAM, GROUP, *entries)
            both.xdel(STREAM, *entries)
            await both.execute()
        counted += len(entries)
    return counted


async def next_uses(redis: Redis) -> dict[str, dict[str, str]]:
    """Some that a job has left behind, or else some that nobody has read, by their ids."""
    idle = int(STALE.total_seconds() * 1000)
    left: Any = await redis.xautoclaim(STREAM, GROUP, READER, idle, "0", count=AT_ONCE)
    found = left[1]
    if not found:
        read: Any = await redis.xreadgroup(GROUP, READER, {STREAM: ">"}, count=AT_ONCE)
        found = read[0][1] if read else []
    return dict(found)
