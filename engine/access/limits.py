"""How many requests a caller may make in a minute, counted by all processes together in Redis.

A process takes a hundredth of a limit at a time, so that most requests ask nobody; what it has not
used of that when the minute ends is lost, and a caller whose limit is used up is refused without
asking. When Redis is away requests are let through and counted in a metric.
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

WINDOW = 60  # seconds
SHARE = 100  # a process takes a limit in this many parts
PATIENCE = 0.25  # seconds for Redis to answer
AWAY = 1.0  # seconds a caller is let through before Redis is asked again
MOST_CALLERS = 100_000
NAME = "pentimento:limit:"

# The window begins with its first request, by the clock of Redis alone.
TAKE = """
local used = redis.call('INCRBY', KEYS[1], ARGV[1])
if used == tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return {used, redis.call('PTTL', KEYS[1])}
"""

UNCOUNTED = Counter(
    "pentimento_rate_limit_unavailable", "Times that Redis could not be asked for a rate limit."
)
REFUSED = Counter("pentimento_rate_limited", "Requests over a rate limit.", ["role"])


@dataclass(slots=True)
class Lease:
    """What this process may let through for one caller without asking."""

    left: int = 0
    elsewhere: int = 0  # of the limit, not yet taken by any process
    until: float = 0.0
    counted: bool = True  # false while Redis is away
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def used_up(self) -> bool:
        return self.left < 1 and self.elsewhere < 1


class RateLimiter:
    """Counts requests by key, or by user for those who come with a token or a JWT."""

    def __init__(
        self,
        redis: Redis,
        limits: Mapping[Role, int],
        *,
        timer: Callable[[], float] = monotonic,
        patience: float = PATIENCE,
    ) -> None:
        self._take = redis.register_script(TAKE)
        self._limits = limits
        self._patience = patience
        self._timer = timer
        self._leases: LRUCache[str, Lease] = LRUCache(MOST_CALLERS)

    async def take(self, caller: Caller) -> Allowance | None:
        """Count one request, or refuse it. None when it could not be counted."""
        limit, name = self._limits[caller.role], bucket(caller)
        lease = self._leases.setdefault(name, Lease())
        while not (lease.until > self._timer() and (lease.left > 0 or lease.used_up)):
            async with lease.lock:  # whoever waits shares what the first one gets
                if not (lease.until > self._timer() and (lease.left > 0 or lease.used_up)):
                    await self._renew(lease, name, limit)
        seconds = max(1, math.ceil(lease.until - self._timer()))
        if lease.left < 1:
            REFUSED.labels(caller.role.value).inc()
            raise TooManyRequests(Allowance(caller.role.value, limit, 0, seconds))
        lease.left -= 1
        if not lease.counted:
            return None
        return Allowance(caller.role.value, limit, lease.left + lease.elsewhere, seconds)

    async def _renew(self, lease: Lease, name: str, limit: int) -> None:
        share = max(1, limit // SHARE)
        try:
            async with asyncio.timeout(self._patience):
                used, left_ms = await self._take(
                    keys=[f"{NAME}{name}"], args=[share, WINDOW * 1000]
                )
        except (RedisError, OSError, TimeoutError):
            UNCOUNTED.inc()
            lease.left, lease.elsewhere, lease.counted = 1_000_000_000, 0, False
            lease.until = self._timer() + AWAY
            return
        lease.left = max(0, min(share, limit - (used - share)))
        lease.elsewhere, lease.counted = max(0, limit - used), True
        lease.until = self._timer() + left_ms / 1000


def bucket(caller: Caller) -> str:
    """Whose requests are counted together. No id of one tenant is that of another."""
    if caller.role is Role.USER:
        return f"{caller.tenant_id}:user:{caller.user_id}"
    return f"{caller.tenant_id}:key:{caller.key_id}"


def open_limiter(settings: Settings, redis: Redis) -> RateLimiter | None:
    """None where limits are turned off."""
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
