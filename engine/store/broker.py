"""Redis: connecting to it, and the heartbeats of the workers kept in it."""

from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import RedisError

from engine.errors import BrokerUnavailable
from engine.settings import Settings

HEARTBEAT_PREFIX = "pentimento:worker:"
HEARTBEAT_SECONDS = 6  # how long one is valid; a worker sends one every 2 s
SCAN_BATCH = 1000  # keys that Redis looks at in one round trip

PATIENCE = 2.0  # seconds


def open_broker(settings: Settings) -> AsyncRedis:
    """A Redis client that waits no longer than PATIENCE. Connects at the first command."""
    return AsyncRedis.from_url(
        settings.broker_url,
        socket_connect_timeout=PATIENCE,
        socket_timeout=PATIENCE,
        decode_responses=True,
    )


def report_worker(redis: Redis, name: str) -> None:
    """Record a heartbeat of a worker. Without another it counts as gone after HEARTBEAT_SECONDS."""
    redis.set(f"{HEARTBEAT_PREFIX}{name}", "1", ex=HEARTBEAT_SECONDS)


def forget_worker(redis: Redis, name: str) -> None:
    """Remove the heartbeat of a worker that stops, so that it counts as gone at once."""
    redis.delete(f"{HEARTBEAT_PREFIX}{name}")


async def list_workers(redis: AsyncRedis) -> list[str]:
    """The names of the workers with a valid heartbeat, sorted."""
    try:
        keys = [key async for key in redis.scan_iter(f"{HEARTBEAT_PREFIX}*", SCAN_BATCH)]
        return sorted(key.removeprefix(HEARTBEAT_PREFIX) for key in keys)
    except (RedisError, OSError) as error:
        raise BrokerUnavailable(type(error).__name__) from error


async def ping(redis: AsyncRedis) -> None:
    """Raise BrokerUnavailable unless Redis answers."""
    try:
        await redis.ping()
    except (RedisError, OSError) as error:
        raise BrokerUnavailable(type(error).__name__) from error
