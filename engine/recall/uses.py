"""Uses of memories, from an answer to the graph, without a wait and without a loss.

A request that returns memories writes them to a Redis stream; a job counts them later. Entries that
a job has read but not acknowledged when it dies are read by another job. Counting is idempotent.
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
CONSUMER = "any"  # one name for all jobs, because only the age of a read matters
BATCH_SIZE = 100  # uses counted in one transaction
STALE_AFTER = timedelta(seconds=30)  # unacknowledged entries are read again after this
MAX_WAITING = 100_000  # uses kept in a process while Redis cannot be reached

log = structlog.get_logger("uses")


class UseLog:
    """Writes uses to the stream."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._waiting: deque[bytes] = deque(maxlen=MAX_WAITING)

    async def record(self, use: Use) -> None:
        """Write a use. While Redis cannot be reached it waits here and is sent with the next."""
        self._waiting.append(msgspec.json.encode(use))
        try:
            while self._waiting:
                encoded = self._waiting.popleft()
                try:
                    await self._redis.xadd(STREAM, {"use": encoded})
                except BaseException:
                    self._waiting.appendleft(encoded)
                    raise
        except (RedisError, OSError) as error:
            log.warning("uses_wait", why=str(error), waiting=len(self._waiting))


async def count_recorded_uses(graph: Graph, redis: Redis, *, now: datetime) -> int:
    """Count every use recorded until now and not counted yet. Returns how many there were.

    Uses recorded meanwhile are left to the next call, so that this one ends.
    """
    with contextlib.suppress(ResponseError):  # the group exists already
        await redis.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
    counted = 0
    oldest = now
    while oldest <= now and (entries := await next_entries(redis)):
        uses = [msgspec.json.decode(entry["use"], type=Use) for entry in entries.values()]
        oldest = min(use.at for use in uses)
        await count_uses(graph, uses, whole=False)
        async with redis.pipeline() as pipeline:
            pipeline.xack(STREAM, GROUP, *entries)
            pipeline.xdel(STREAM, *entries)
            await pipeline.execute()
        counted += len(entries)
    return counted


async def next_entries(redis: Redis) -> dict[str, dict[str, str]]:
    """A batch of stale entries, or else of unread ones, by id."""
    idle = int(STALE_AFTER.total_seconds() * 1000)
    claimed: Any = await redis.xautoclaim(STREAM, GROUP, CONSUMER, idle, "0", count=BATCH_SIZE)
    entries = claimed[1]
    if not entries:
        read: Any = await redis.xreadgroup(GROUP, CONSUMER, {STREAM: ">"}, count=BATCH_SIZE)
        entries = read[0][1] if read else []
    return dict(entries)
