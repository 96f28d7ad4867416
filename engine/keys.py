"""API keys: made, checked, rotated, revoked. A key's text is shown once and never stored.

A key reads `pmt_<id>_<secret>`. The secret has 256 random bits, so one SHA-256 is enough: there is
nothing to guess, and a slow hash would only slow down every call.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import monotonic

from cachetools import TTLCache

from engine.errors import KeyNotFound, LastAdminKey, NotFound, Unauthenticated
from engine.graph import Graph, Row
from engine.models import ApiKey, Caller, IssuedKey, Page, Role
from engine.paging import after, page

PREFIX = "pmt"
MOST_CACHED = 10_000


async def issue_key(
    graph: Graph,
    tenant_id: str,
    *,
    name: str,
    role: Role,
    now: datetime,
    expires_at: datetime | None = None,
) -> IssuedKey:
    """Make a key for a tenant. The text in the answer cannot be had again."""
    key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    key = {
        "id": key_id,
        "name": name,
        "role": role.value,
        "hash": hashed(secret),
        "created_at": now,
        "expires_at": expires_at,
    }
    found = await graph.write("keys/add_key", tenant_id=tenant_id, key=key)
    if not found:
        raise NotFound(f"No tenant {tenant_id!r}.")
    return IssuedKey(as_key(found[0]), text_of(key_id, secret))


async def list_keys(
    graph: Graph, tenant_id: str, *, cursor: str | None = None, limit: int
) -> Page[ApiKey]:
    rows = await graph.read(
        "keys/list_keys", tenant_id=tenant_id, after=after(cursor), limit=limit + 1
    )
    return page([as_key(row) for row in rows], limit, lambda key: key.id)


async def rotate_key(
    graph: Graph, tenant_id: str, key_id: str, *, now: datetime, grace: timedelta
) -> IssuedKey:
    """Give a key a new secret; the old one stays good for `grace`, so that callers can change."""
    secret = secrets.token_urlsafe(32)
    found = await graph.write(
        "keys/rotate_key",
        tenant_id=tenant_id,
        key_id=key_id,
        hash=hashed(secret),
        previous_until=now + grace,
    )
    if not found:
        raise KeyNotFound(key_id)
    return IssuedKey(as_key(found[0]), text_of(key_id, secret))


async def revoke_key(graph: Graph, tenant_id: str, key_id: str, *, now: datetime) -> None:
    """End a key for good. A tenant keeps at least one admin key that works."""
    found = await graph.write("keys/revoke_key", tenant_id=tenant_id, key_id=key_id, revoked_at=now)
    if not found:
        raise KeyNotFound(key_id)
    if found[0]["is_last"]:
        raise LastAdminKey


class KeyRing:
    """Checks the keys that callers show, and remembers a good one for a few seconds.

    Without that every call would cost a second round trip. What is remembered is the hash of the
    key's whole text, and only for good keys, so a new one works at once.
    """

    def __init__(
        self, graph: Graph, *, seconds: float, timer: Callable[[], float] = monotonic
    ) -> None:
        self._graph = graph
        self._good: TTLCache[str, Caller] = TTLCache(MOST_CACHED, ttl=seconds, timer=timer)

    async def caller(self, text: str) -> Caller:
        """Whose key this is, or a refusal that does not say what was wrong with it."""
        known = self._good.get(hashed(text))
        if known:
            return known
        prefix, _, rest = text.partition("_")
        key_id, _, secret = rest.partition("_")
        if prefix != PREFIX or not key_id or not secret:
            raise Unauthenticated
        found = await self._graph.read("keys/find_key", key_id=key_id)
        now = datetime.now(UTC)
        if not found or not is_good(found[0], hashed(secret), now):
            raise Unauthenticated
        caller = Caller(found[0]["tenant_id"], key_id, Role(found[0]["role"]))
        self._good[hashed(text)] = caller
        return caller

    def forget(self, key_id: str) -> None:
        """Look at this key again at its next use: it was rotated or revoked."""
        for remembered, caller in list(self._good.items()):
            if caller.key_id == key_id:
                self._good.pop(remembered, None)


def is_good(row: Row, offered: str, now: datetime) -> bool:
    if row["revoked_at"] or (row["expires_at"] and row["expires_at"] <= now):
        return False
    if hmac.compare_digest(row["hash"], offered):
        return True
    in_grace = row["previous_hash"] and row["previous_until"] > now
    return bool(in_grace) and hmac.compare_digest(row["previous_hash"], offered)


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def text_of(key_id: str, secret: str) -> str:
    return f"{PREFIX}_{key_id}_{secret}"


def as_key(row: Row) -> ApiKey:
    return ApiKey(**{**row, "role": Role(row["role"])})
