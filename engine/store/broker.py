"""What the engine asks of Redis beside carrying jobs: is it there, and is anybody working?"""

from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import RedisError

from engine.errors import BrokerUnavailable
from engine.settings import Settings

SEEN = "pentimento:worker:"
SEEN_SECONDS = 6  # a worker says it is there every 2 s

PATIENCE = 2.0  # seconds


def open_broker(settings: Settings) -> AsyncRedis:
    return AsyncRedis.from_url(
        settings.broker_url,
        socket_connect_timeout=PATIENCE,
        socket_timeout=PATIENCE,
        decode_responses=True,
    )


def report_worker(redis: Redis, name: str) -> None:
    """Say that a worker is alive. Silence is noticed after SEEN_SECONDS."""
    redis.set(f"{SEEN}{name}", "1", ex=SEEN_SECONDS)


def forget_worker(redis: Redis, name: str) -> None:
    """Say that a worker has stopped, so that nobody waits for its silence to be noticed."""
    redis.delete(f"{SEEN}{name}")


async def list_workers(redis: AsyncRedis) -> list[str]:
    """The names of the workers that were heard of lately."""
    try:
        return sorted([key.removeprefix(SEEN) async for key in redis.scan_iter(f"{SEEN}*", 1000)])
    except (RedisError, OSError) as error:
        raise BrokerUnavailable(type(error).__name__) from error


async def ping(redis: AsyncRedis) -> None:
    try:
        await redis.ping()
    except (RedisError, OSError) as error:
        raise BrokerUnavailable(type(error).__name__) from error
