"""Rate limits: requests a minute of each caller, counted in Redis for all processes together.

A process takes a hundredth of a limit at a time, so that most requests need no call to Redis. What
it has not used when the minute ends is lost. A caller whose limit is used up is refused without
asking Redis. While Redis is away requests are let through, and a metric counts that.
"""

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic

from cachetools import LRUCache
from prometheus_client import Counter
from redis.asyncio import Redis
from redis.exceptions import RedisError

from engine.access.models import Caller, Role
from engine.errors import TooManyRequests
from engine.models import Allowance
from engine.settings import Settings

RATE_WINDOW_SECONDS = 60
SHARES_PER_LIMIT = 100  # a process takes one of them at a time
REDIS_TIMEOUT_SECONDS = 0.25
REDIS_RETRY_SECONDS = 1.0  # a caller is let through this long before Redis is asked again
MAX_CALLERS = 100_000  # whose shares a process remembers
REDIS_PREFIX = "pentimento:limit:"
UNLIMITED = 1_000_000_000  # requests, while Redis is away

# The window begins with its first request. Only the clock of Redis counts.
TAKE_SHARE = """
local used = redis.call('INCRBY', KEYS[1], ARGV[1])
if used == tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return {used, redis.call('PTTL', KEYS[1])}
"""

UNCOUNTED = Counter(
    "pentimento_rate_limit_unavailable", "Times that Redis could not be asked for a rate limit."
)
REFUSED = Counter("pentimento_rate_limited", "Requests over a rate limit.", ["role"])


@dataclass(slots=True)
class Share:
    """The requests that this process may let through for one caller without asking Redis."""

    remaining: int = 0
    unclaimed: int = 0  # of the limit, not taken by any process
    ends_at: float = 0.0
    is_counted: bool = True  # false while Redis is away
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def is_exhausted(self) -> bool:
        """Whether the caller's whole limit is used up."""
        return self.remaining < 1 and self.unclaimed < 1

    def decides(self, now: float) -> bool:
        """Whether a request can be let through or refused without asking Redis."""
        return self.ends_at > now and (self.remaining > 0 or self.is_exhausted)


class RateLimiter:
    """Counts requests by key; by user for callers with a token or a JWT."""

    def __init__(
        self,
        redis: Redis,
        limits: Mapping[Role, int],
        *,
        timer: Callable[[], float] = monotonic,
        timeout_seconds: float = REDIS_TIMEOUT_SECONDS,
    ) -> None:
        self._take_share = redis.register_script(TAKE_SHARE)
        self._limits = limits
        self._timeout_seconds = timeout_seconds
        self._timer = timer
        self._shares: LRUCache[str, Share] = LRUCache(MAX_CALLERS)

    async def take(self, caller: Caller) -> Allowance | None:
        """Count one request, or refuse it. None when it could not be counted."""
        limit, bucket_name = self._limits[caller.role], bucket(caller)
        share = self._shares.setdefault(bucket_name, Share())
        while not share.decides(self._timer()):
            async with share.lock:  # requests that waited use the share that the first one took
                if not share.decides(self._timer()):
                    await self._renew(share, bucket_name, limit)
        seconds = max(1, math.ceil(share.ends_at - self._timer()))
        if share.remaining < 1:
            REFUSED.labels(caller.role.value).inc()
            raise TooManyRequests(Allowance(caller.role.value, limit, 0, seconds))
        share.remaining -= 1
        if not share.is_counted:
            return None
        return Allowance(caller.role.value, limit, share.remaining + share.unclaimed, seconds)

    async def _renew(self, share: Share, bucket_name: str, limit: int) -> None:
        """Take the next share of a limit from Redis."""
        size = max(1, limit // SHARES_PER_LIMIT)
        try:
            async with asyncio.timeout(self._timeout_seconds):
                used, remaining_ms = await self._take_share(
                    keys=[f"{REDIS_PREFIX}{bucket_name}"], args=[size, RATE_WINDOW_SECONDS * 1000]
                )
        except (RedisError, OSError, TimeoutError):
            UNCOUNTED.inc()
            share.remaining, share.unclaimed, share.is_counted = UNLIMITED, 0, False
            share.ends_at = self._timer() + REDIS_RETRY_SECONDS
            return
        share.remaining = max(0, min(size, limit - (used - size)))
        share.unclaimed, share.is_counted = max(0, limit - used), True
        share.ends_at = self._timer() + remaining_ms / 1000


def bucket(caller: Caller) -> str:
    """The name under which a caller's requests are counted. Tenants share none."""
    if caller.role is Role.USER:
        return f"{caller.tenant_id}:user:{caller.user_id}"
    return f"{caller.tenant_id}:key:{caller.key_id}"


def open_limiter(settings: Settings, redis: Redis) -> RateLimiter | None:
    """The rate limiter that the settings describe; None if limits are turned off."""
    if settings.rate_limits == "off":
        return None
    return RateLimiter(
        redis,
        {
            Role.RUNTIME: settings.rate_limit_runtime,
            Role.ADMIN: settings.rate_limit_admin,
            Role.ANALYST: settings.rate_limit_analyst,
            Role.USER: settings.rate_limit_user,
        },
    )
