"""API keys: made, checked, rotated, revoked. A key's text is shown once and never stored.

What else a caller may show is checked here too: user tokens (`access.tokens`) and JWTs of the
tenant's identity provider (`access.identity`).

A key reads `pmt_<id>_<secret>`. The secret has 256 random bits, so one SHA-256 is enough: there is
nothing to guess, and a slow hash would only slow down every call.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic

from cachetools import TTLCache

from engine.access.identity import JwtVerifier
from engine.access.models import ApiKey, Caller, IssuedKey, Role
from engine.errors import Invalid, KeyNotFound, LastAdminKey, NotFound, Unauthenticated
from engine.models import Row
from engine.store import OPERATOR, Graph, Page, audit_record, decode_id, make_page

PREFIX = "pmt"
TOKEN_PREFIX = "pmu"  # noqa: S105  # the public part of a token
MOST_CACHED = 10_000


async def issue_key(
    graph: Graph,
    tenant_id: str,
    *,
    name: str,
    role: Role,
    now: datetime,
    expires_at: datetime | None = None,
    by: str = OPERATOR,
) -> IssuedKey:
    """Make a key for a tenant. The text in the answer cannot be had again."""
    if role is Role.USER:
        raise Invalid("No key has the role 'user': a person has a token or a JWT.")
    key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    key = {
        "id": key_id,
        "name": name,
        "role": role.value,
        "hash": hashed(secret),
        "created_at": now,
        "expires_at": expires_at,
    }
    event = audit_record("key_issued", by=by, now=now)
    found = await graph.write("access/keys/add_key", tenant_id=tenant_id, key=key, event=event)
    if not found:
        raise NotFound(f"No tenant {tenant_id!r}.")
    return IssuedKey(as_key(found[0]), text_of(key_id, secret))


async def list_keys(
    graph: Graph, tenant_id: str, *, cursor: str | None = None, limit: int
) -> Page[ApiKey]:
    rows = await graph.read(
        "access/keys/list_keys", tenant_id=tenant_id, after=decode_id(cursor), limit=limit + 1
    )
    return make_page([as_key(row) for row in rows], limit, lambda key: key.id)


async def rotate_key(
    graph: Graph,
    tenant_id: str,
    key_id: str,
    *,
    now: datetime,
    grace: timedelta,
    by: str = OPERATOR,
) -> IssuedKey:
    """Give a key a new secret; the old one stays good for `grace`, so that callers can change."""
    secret = secrets.token_urlsafe(32)
    found = await graph.write(
        "access/keys/rotate_key",
        tenant_id=tenant_id,
        key_id=key_id,
        hash=hashed(secret),
        previous_until=now + grace,
        event=audit_record("key_rotated", by=by, now=now),
    )
    if not found:
        raise KeyNotFound(key_id)
    return IssuedKey(as_key(found[0]), text_of(key_id, secret))


async def revoke_key(
    graph: Graph, tenant_id: str, key_id: str, *, now: datetime, by: str = OPERATOR
) -> None:
    """End a key for good. A tenant keeps at least one admin key that works."""

    def judge(rows: list[Row]) -> None:
        if not rows:
            raise KeyNotFound(key_id)
        if rows[0]["is_last"]:
            raise LastAdminKey

    await graph.write_if(
        judge,
        "access/keys/revoke_key",
        tenant_id=tenant_id,
        key_id=key_id,
        revoked_at=now,
        event=audit_record("key_revoked", by=by, now=now),
    )


@dataclass(frozen=True, slots=True)
class Known:
    """A caller that was checked, and when what they showed ends."""

    caller: Caller
    until: datetime | None


class KeyRing:
    """Checks the keys, tokens and JWTs that callers show, and remembers good ones for some seconds.

    Without that every call would cost a second round trip. What is remembered is the hash of the
    whole text, and only of what is good, so a new key works at once.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        seconds: float,
        jwts: JwtVerifier | None = None,
        timer: Callable[[], float] = monotonic,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._graph = graph
        self._jwts = jwts
        self._clock = clock
        self._good: TTLCache[str, Known] = TTLCache(MOST_CACHED, ttl=seconds, timer=timer)

    async def caller(self, text: str, *, tenant_id: str | None = None) -> Caller:
        """Who shows this, or a refusal that does not say what was wrong with it.

        `tenant_id` is what the caller says their tenant is; it matters for JWTs alone, whose
        issuer may be trusted by several tenants.
        """
        now = self._clock()
        prefix, _, rest = text.partition("_")
        is_jwt = prefix not in (PREFIX, TOKEN_PREFIX)
        remembered = hashed(f"{tenant_id}\n{text}" if is_jwt else text)
        known = self._good.get(remembered)
        if known is None or (known.until and known.until <= now):
            if is_jwt:
                known = await self._by_jwt(text, tenant_id, now)
            else:
                public, _, secret = rest.partition("_")
                if not public or not secret:
                    raise Unauthenticated
                find = self._by_key if prefix == PREFIX else self._by_token
                known = await find(public, hashed(secret), now)
            self._good[remembered] = known
        return known.caller

    async def _by_key(self, key_id: str, offered: str, now: datetime) -> Known:
        found = await self._graph.read("access/keys/find_key", key_id=key_id)
        if not found or not is_good(found[0], offered, now):
            raise Unauthenticated
        (key,) = found
        if key["role"] == Role.USER:  # made before people had tokens
            raise Unauthenticated
        return Known(Caller(key["tenant_id"], key_id, Role(key["role"])), key["expires_at"])

    async def _by_token(self, token_id: str, offered: str, now: datetime) -> Known:
        found = await self._graph.read("access/tokens/find_token", token_id=token_id)
        if not found or not hmac.compare_digest(found[0]["hash"], offered):
            raise Unauthenticated
        (token,) = found
        until = min(filter(None, (token["expires_at"], token["key_expires_at"])))
        if token["key_revoked_at"] or until <= now:
            raise Unauthenticated
        narrowed = token["instance_ids"]
        caller = Caller(
            token["tenant_id"],
            token["key_id"],
            Role.USER,
            token["user_id"],
            None if narrowed is None else tuple(narrowed),
        )
        return Known(caller, until)

    async def _by_jwt(self, text: str, tenant_id: str | None, now: datetime) -> Known:
        if self._jwts is None:
            raise Unauthenticated
        return Known(*await self._jwts.verify(text, tenant_id, now))

    def forget(self, key_id: str) -> None:
        """Look at this key, and the tokens it issued, again at their next use."""
        self._drop(lambda caller: caller.key_id == key_id)

    def forget_provider(self, tenant_id: str) -> None:
        """Look at the tenant's JWTs again at their next use: whom it trusts was changed."""
        if self._jwts:
            self._jwts.forget(tenant_id)
        self._drop(lambda caller: caller.tenant_id == tenant_id and caller.role is Role.USER)

    def _drop(self, matches: Callable[[Caller], bool]) -> None:
        for remembered, known in list(self._good.items()):
            if matches(known.caller):
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
