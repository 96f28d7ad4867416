"""API keys: issued, verified, rotated, revoked. A key's text is shown once and never stored.

`KeyRing` verifies all credentials: keys, user tokens (`access.tokens`) and JWTs of the tenant's
identity provider (`access.identity`).

A key is `pmt_<id>_<secret>`. The secret has 256 random bits, so one SHA-256 is enough: it cannot be
guessed, and a slow hash would only slow down every request.
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
CACHE_SIZE = 10_000  # verified credentials


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
    """Issue a key for a tenant. Its text cannot be read again."""
    if role is Role.USER:
        raise Invalid("No key has the role 'user': a person has a token or a JWT.")
    key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    key = {
        "id": key_id,
        "name": name,
        "role": role.value,
        "hash": hash_secret(secret),
        "created_at": now,
        "expires_at": expires_at,
    }
    event = audit_record("key_issued", by=by, now=now)
    rows = await graph.write("access/keys/add_key", tenant_id=tenant_id, key=key, event=event)
    if not rows:
        raise NotFound(f"No tenant {tenant_id!r}.")
    return IssuedKey(key_from_row(rows[0]), key_text(key_id, secret))


async def list_keys(
    graph: Graph, tenant_id: str, *, cursor: str | None = None, limit: int
) -> Page[ApiKey]:
    """The keys of a tenant, by id, revoked ones too."""
    rows = await graph.read(
        "access/keys/list_keys", tenant_id=tenant_id, after=decode_id(cursor), limit=limit + 1
    )
    return make_page([key_from_row(row) for row in rows], limit, lambda key: key.id)


async def rotate_key(
    graph: Graph,
    tenant_id: str,
    key_id: str,
    *,
    now: datetime,
    grace: timedelta,
    by: str = OPERATOR,
) -> IssuedKey:
    """Give a key a new secret. The old one stays valid for `grace`, so that callers can switch."""
    secret = secrets.token_urlsafe(32)
    rows = await graph.write(
        "access/keys/rotate_key",
        tenant_id=tenant_id,
        key_id=key_id,
        hash=hash_secret(secret),
        previous_until=now + grace,
        event=audit_record("key_rotated", by=by, now=now),
    )
    if not rows:
        raise KeyNotFound(key_id)
    return IssuedKey(key_from_row(rows[0]), key_text(key_id, secret))


async def revoke_key(
    graph: Graph, tenant_id: str, key_id: str, *, now: datetime, by: str = OPERATOR
) -> None:
    """Revoke a key for good. The last valid admin key of a tenant cannot be revoked."""

    def check_revoked(rows: list[Row]) -> None:
        if not rows:
            raise KeyNotFound(key_id)
        if rows[0]["is_last"]:
            raise LastAdminKey

    await graph.write_if(
        check_revoked,
        "access/keys/revoke_key",
        tenant_id=tenant_id,
        key_id=key_id,
        revoked_at=now,
        event=audit_record("key_revoked", by=by, now=now),
    )


@dataclass(frozen=True, slots=True)
class VerifiedCaller:
    """The caller that a credential belongs to, and when the credential expires."""

    caller: Caller
    expires_at: datetime | None


class KeyRing:
    """Verifies keys, tokens and JWTs, and caches valid ones for some seconds.

    Without the cache every request would cost a second round trip. Its keys are hashes of the whole
    text, and invalid credentials are not cached, so a new key works at once.
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
        self._cache: TTLCache[str, VerifiedCaller] = TTLCache(CACHE_SIZE, ttl=seconds, timer=timer)

    async def caller(self, text: str, *, tenant_id: str | None = None) -> Caller:
        """The caller that a credential belongs to. The error does not say what was wrong with it.

        `tenant_id` is the tenant that the request names. It matters for JWTs only, whose issuer may
        be trusted by several tenants.
        """
        now = self._clock()
        prefix, _, rest = text.partition("_")
        is_jwt = prefix not in (PREFIX, TOKEN_PREFIX)
        cache_key = hash_secret(f"{tenant_id}\n{text}" if is_jwt else text)
        verified = self._cache.get(cache_key)
        if verified is None or (verified.expires_at and verified.expires_at <= now):
            if is_jwt:
                verified = await self._by_jwt(text, tenant_id, now)
            else:
                public_id, _, secret = rest.partition("_")
                if not public_id or not secret:
                    raise Unauthenticated
                verify = self._by_key if prefix == PREFIX else self._by_token
                verified = await verify(public_id, hash_secret(secret), now)
            self._cache[cache_key] = verified
        return verified.caller

    async def _by_key(self, key_id: str, offered_hash: str, now: datetime) -> VerifiedCaller:
        rows = await self._graph.read("access/keys/find_key", key_id=key_id)
        if not rows or not is_valid(rows[0], offered_hash, now):
            raise Unauthenticated
        (key,) = rows
        if key["role"] == Role.USER:  # issued before users had tokens
            raise Unauthenticated
        caller = Caller(key["tenant_id"], key_id, Role(key["role"]))
        return VerifiedCaller(caller, key["expires_at"])

    async def _by_token(self, token_id: str, offered_hash: str, now: datetime) -> VerifiedCaller:
        rows = await self._graph.read("access/tokens/find_token", token_id=token_id)
        if not rows or not hmac.compare_digest(rows[0]["hash"], offered_hash):
            raise Unauthenticated
        (token,) = rows
        expires_at = min(filter(None, (token["expires_at"], token["key_expires_at"])))
        if token["key_revoked_at"] or expires_at <= now:
            raise Unauthenticated
        instance_ids = token["instance_ids"]
        caller = Caller(
            token["tenant_id"],
            token["key_id"],
            Role.USER,
            token["user_id"],
            None if instance_ids is None else tuple(instance_ids),
        )
        return VerifiedCaller(caller, expires_at)

    async def _by_jwt(self, text: str, tenant_id: str | None, now: datetime) -> VerifiedCaller:
        if self._jwts is None:
            raise Unauthenticated
        return VerifiedCaller(*await self._jwts.verify(text, tenant_id, now))

    def forget(self, key_id: str) -> None:
        """Remove a key, and the tokens it issued, from the cache."""
        self._drop(lambda caller: caller.key_id == key_id)

    def forget_provider(self, tenant_id: str) -> None:
        """Remove the JWTs of a tenant, and its identity provider, from the cache."""
        if self._jwts:
            self._jwts.forget(tenant_id)
        self._drop(lambda caller: caller.tenant_id == tenant_id and caller.role is Role.USER)

    def _drop(self, matches: Callable[[Caller], bool]) -> None:
        for cache_key, verified in list(self._cache.items()):
            if matches(verified.caller):
                self._cache.pop(cache_key, None)


def is_valid(row: Row, offered_hash: str, now: datetime) -> bool:
    """Whether a key is in force and its secret was offered, or its last one while that lasts."""
    if row["revoked_at"] or (row["expires_at"] and row["expires_at"] <= now):
        return False
    if hmac.compare_digest(row["hash"], offered_hash):
        return True
    in_grace = row["previous_hash"] and row["previous_until"] > now
    return bool(in_grace) and hmac.compare_digest(row["previous_hash"], offered_hash)


def hash_secret(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def key_text(key_id: str, secret: str) -> str:
    """The text of a key, as a caller sends it."""
    return f"{PREFIX}_{key_id}_{secret}"


def key_from_row(row: Row) -> ApiKey:
    return ApiKey(**{**row, "role": Role(row["role"])})
