"""Public keys of identity providers, fetched from where the tenant's admin says they are.

The address is a tenant's choice and the request is ours, so it goes to public addresses by https
alone, follows no redirect, waits not long and reads not much; nothing of the answer is handed on.
"""

import asyncio
import ipaddress
import socket
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeAlias

import httpx
import jwt
import structlog
from cachetools import LRUCache
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from prometheus_client import Counter

from engine.errors import Invalid

FETCH_SECONDS = 3.0
MOST_BYTES = 256 * 1024
MOST_KEYS = 100
FRESH_SECONDS = 600.0  # then the keys are fetched again
STALE_SECONDS = 3600.0  # so long fetched keys are used while nobody answers
FETCH_EVERY = 10.0  # seconds between two fetches, however many unknown keys are shown
WEAKEST_RSA = 2048  # bits

FETCHES = Counter("pentimento_jwks_fetches", "Fetches of identity providers' keys.", ["outcome"])

PublicKey: TypeAlias = RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey

log = structlog.get_logger("identity")


class NotFetched(Exception):
    """The keys could not be had; says why, without quoting what came back."""


@dataclass(slots=True)
class KeySet:
    """What was last fetched from one address."""

    keys: dict[str | None, list[PublicKey]] = field(default_factory=dict)  # by kid
    fetched_at: float | None = None
    tried_at: float | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class KeySets:
    """The key sets of this process, fetched when they are needed."""

    def __init__(self, *, private_hosts: bool) -> None:
        self._private_hosts = private_hosts
        self._sets: LRUCache[tuple[str, str], KeySet] = LRUCache(1000)

    async def keys(self, tenant_id: str, url: str, kid: str | None) -> list[PublicKey]:
        """Keys with this id, or all when the token names none; fetched again for an unknown id."""
        known = self._sets.setdefault((tenant_id, url), KeySet())
        if self._needs_fetch(known, kid):
            async with known.lock:
                if self._needs_fetch(known, kid):
                    await self._fetch(known, url)
        if known.fetched_at is None or monotonic() - known.fetched_at > STALE_SECONDS:
            return []
        if kid is None:
            return [key for keys in known.keys.values() for key in keys]
        return known.keys.get(kid, [])

    def _needs_fetch(self, known: KeySet, kid: str | None) -> bool:
        now = monotonic()
        if known.tried_at is not None and now - known.tried_at < FETCH_EVERY:
            return False
        is_old = known.fetched_at is None or now - known.fetched_at > FRESH_SECONDS
        return is_old or (kid is not None and kid not in known.keys)

    async def _fetch(self, known: KeySet, url: str) -> None:
        known.tried_at = monotonic()
        try:
            document = await fetch_json(url, private_hosts=self._private_hosts)
            known.keys = keys_in(document)
        except NotFetched as error:
            FETCHES.labels("failed").inc()
            log.warning("jwks_not_fetched", why=str(error))
        else:
            FETCHES.labels("ok").inc()
            known.fetched_at = monotonic()


def checked_url(url: str, *, private_hosts: bool) -> str:
    """The address, when keys may be fetched from it: https, or http on this machine in tests."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise Invalid("jwks_url is not a URL.") from error
    is_local = private_hosts and parsed.scheme == "http" and parsed.host in ("127.0.0.1", "::1")
    if not parsed.host or not (parsed.scheme == "https" or is_local):
        raise Invalid("jwks_url must begin with https://.")
    if parsed.userinfo or parsed.fragment:
        raise Invalid("jwks_url holds no user name, password or fragment.")
    return url


async def fetch_json(url: str, *, private_hosts: bool) -> Any:
    """The document at an address, asked for at the very address that was checked."""
    parsed = httpx.URL(url)
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            address = await resolved(parsed, private_hosts=private_hosts)
            async with (
                httpx.AsyncClient(follow_redirects=False, trust_env=False) as client,
                client.stream(
                    "GET",
                    parsed.copy_with(host=address),
                    headers={"Host": parsed.netloc.decode(), "Accept": "application/json"},
                    extensions={"sni_hostname": parsed.host},
                ) as answer,
            ):
                if answer.status_code != 200:
                    raise NotFetched(f"status {answer.status_code}")
                body = b""
                async for piece in answer.aiter_bytes():
                    body += piece
                    if len(body) > MOST_BYTES:
                        raise NotFetched("too long")
        return httpx.Response(200, content=body).json()
    except (httpx.HTTPError, OSError, TimeoutError, ValueError, RecursionError) as error:
        raise NotFetched(type(error).__name__) from error


async def resolved(url: httpx.URL, *, private_hosts: bool) -> str:
    """An address of the host; one that is not public is refused unless the deployment allows it."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(url.host, url.port or 443, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    if not addresses:
        raise NotFetched("no address")
    if not private_hosts and not all(is_public(address) for address in addresses):
        raise NotFetched("not a public address")
    return addresses[0]


def is_public(address: str) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    return parsed.is_global and not parsed.is_multicast


def keys_in(document: Any) -> dict[str | None, list[PublicKey]]:
    """The keys of a JWKS document that a signature can be checked with, by their id."""
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise NotFetched("no JWKS document")
    found: dict[str | None, list[PublicKey]] = {}
    for entry in listed[:MOST_KEYS]:
        if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
            continue
        try:
            key = jwt.PyJWK(entry).key
        except (jwt.PyJWTError, ValueError, TypeError):
            continue  # of a kind that is not accepted here
        if isinstance(key, PublicKey) and is_strong(key):
            kid = entry.get("kid")
            found.setdefault(kid if isinstance(kid, str) else None, []).append(key)
    return found


def is_strong(key: PublicKey) -> bool:
    if isinstance(key, RSAPublicKey):
        return key.key_size >= WEAKEST_RSA
    return isinstance(key, Ed25519PublicKey) or isinstance(key.curve, SECP256R1)
