"""Public keys of identity providers, fetched from the URL that a tenant's admin has set.

The tenant chooses the URL and our server makes the request. So it goes to public addresses by https
only, follows no redirects, has limits of time and size, and nothing of a bad answer is passed on.
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
MAX_BYTES = 256 * 1024
MAX_KEYS = 100
FRESH_SECONDS = 600.0  # after which keys are fetched again
STALE_SECONDS = 3600.0  # after which fetched keys are not used, even if fetching fails
FETCH_INTERVAL_SECONDS = 10.0  # at least, between two fetches, however many unknown keys are named
MIN_RSA_BITS = 2048

FETCHES = Counter("pentimento_jwks_fetches", "Fetches of identity providers' keys.", ["outcome"])

PublicKey: TypeAlias = RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey

log = structlog.get_logger("identity")


class NotFetched(Exception):
    """The keys could not be fetched. The reason does not quote the answer."""


@dataclass(slots=True)
class KeySet:
    """The keys that were last fetched from one URL."""

    keys: dict[str | None, list[PublicKey]] = field(default_factory=dict)  # by kid
    fetched_at: float | None = None
    tried_at: float | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class KeySets:
    """The key sets cached by this process, fetched when they are needed."""

    def __init__(self, *, private_hosts: bool) -> None:
        self._private_hosts = private_hosts
        self._sets: LRUCache[tuple[str, str], KeySet] = LRUCache(1000)

    async def keys(self, tenant_id: str, url: str, kid: str | None) -> list[PublicKey]:
        """The keys with this id, or all if the token names none; an unknown id causes a fetch."""
        key_set = self._sets.setdefault((tenant_id, url), KeySet())
        if self._needs_fetch(key_set, kid):
            async with key_set.lock:
                if self._needs_fetch(key_set, kid):
                    await self._fetch(key_set, url)
        if key_set.fetched_at is None or monotonic() - key_set.fetched_at > STALE_SECONDS:
            return []
        if kid is None:
            return [key for keys in key_set.keys.values() for key in keys]
        return key_set.keys.get(kid, [])

    def _needs_fetch(self, key_set: KeySet, kid: str | None) -> bool:
        now = monotonic()
        if key_set.tried_at is not None and now - key_set.tried_at < FETCH_INTERVAL_SECONDS:
            return False
        is_old = key_set.fetched_at is None or now - key_set.fetched_at > FRESH_SECONDS
        return is_old or (kid is not None and kid not in key_set.keys)

    async def _fetch(self, key_set: KeySet, url: str) -> None:
        key_set.tried_at = monotonic()
        try:
            document = await fetch_json(url, private_hosts=self._private_hosts)
            key_set.keys = keys_in(document)
        except NotFetched as error:
            FETCHES.labels("failed").inc()
            log.warning("jwks_not_fetched", why=str(error))
        else:
            FETCHES.labels("ok").inc()
            key_set.fetched_at = monotonic()


def check_url(url: str, *, private_hosts: bool) -> None:
    """Refuse a URL that is not https; with `private_hosts`, http on this machine is allowed too."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise Invalid("jwks_url is not a URL.") from error
    is_local = private_hosts and parsed.scheme == "http" and parsed.host in ("127.0.0.1", "::1")
    if not parsed.host or not (parsed.scheme == "https" or is_local):
        raise Invalid("jwks_url must begin with https://.")
    if parsed.userinfo or parsed.fragment:
        raise Invalid("jwks_url must not have a user name, a password or a fragment.")


async def fetch_json(url: str, *, private_hosts: bool) -> Any:
    """The JSON document at a URL, requested from the very IP address that was checked."""
    parsed = httpx.URL(url)
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            address = await resolve(parsed, private_hosts=private_hosts)
            async with (
                httpx.AsyncClient(follow_redirects=False, trust_env=False) as client,
                client.stream(
                    "GET",
                    parsed.copy_with(host=address),
                    headers={"Host": parsed.netloc.decode(), "Accept": "application/json"},
                    extensions={"sni_hostname": parsed.host},
                ) as response,
            ):
                if response.status_code != 200:
                    raise NotFetched(f"status {response.status_code}")
                body = b""
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > MAX_BYTES:
                        raise NotFetched("too long")
        return httpx.Response(200, content=body).json()
    except (httpx.HTTPError, OSError, TimeoutError, ValueError, RecursionError) as error:
        raise NotFetched(type(error).__name__) from error


async def resolve(url: httpx.URL, *, private_hosts: bool) -> str:
    """An IP address of the host. Refuses private ones unless the deployment allows them."""
    loop = asyncio.get_running_loop()
    entries = await loop.getaddrinfo(url.host, url.port or 443, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in entries]
    if not addresses:
        raise NotFetched("no address")
    if not private_hosts and not all(is_public(address) for address in addresses):
        raise NotFetched("not a public address")
    return addresses[0]


def is_public(address: str) -> bool:
    """Whether an IP address is reachable from the internet."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    return parsed.is_global and not parsed.is_multicast


def keys_in(document: Any) -> dict[str | None, list[PublicKey]]:
    """The keys of a JWKS document that are accepted for signatures, by their id."""
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise NotFetched("no JWKS document")
    keys: dict[str | None, list[PublicKey]] = {}
    for entry in listed[:MAX_KEYS]:
        if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
            continue
        try:
            key = jwt.PyJWK(entry).key
        except (jwt.PyJWTError, ValueError, TypeError):
            continue  # of a type that is not accepted here
        if isinstance(key, PublicKey) and is_strong(key):
            kid = entry.get("kid")
            keys.setdefault(kid if isinstance(kid, str) else None, []).append(key)
    return keys


def is_strong(key: PublicKey) -> bool:
    """Whether a key is Ed25519, EC P-256, or RSA of at least 2048 bits."""
    if isinstance(key, RSAPublicKey):
        return key.key_size >= MIN_RSA_BITS
    return isinstance(key, Ed25519PublicKey) or isinstance(key.curve, SECP256R1)
