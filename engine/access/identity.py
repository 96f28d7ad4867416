"""JWTs of a tenant's identity provider: setting the provider, and verifying its JWTs.

The tenant of a JWT is named by its audience `pentimento:<tenant_id>`, or, where the provider cannot
give that audience, by the header X-Tenant-Id. Either only selects the provider: signature, issuer
and audience are verified against what that tenant's admin has set. So no tenant can claim another's
issuer, and a token for one tenant is not valid for another.
"""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import jwt
from cachetools import TTLCache
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from engine.access.audit import audit_event
from engine.access.jwks import KeySets, PublicKey, check_url, is_strong
from engine.access.models import Caller, IdentityProvider, Role
from engine.errors import IdentityProviderNotFound, Invalid, NotFound, Unauthenticated
from engine.store import Graph

AUDIENCE_PREFIX = "pentimento:"  # before the tenant's id
LEEWAY_SECONDS = 30  # that two clocks may differ
MAX_JWT_LENGTH = 8192  # characters
MAX_ID_LENGTH = 128
LATEST_TIMESTAMP = 253_402_300_799  # the last second that a datetime can hold
KEY_ID = "jwt"  # the `key_id` of callers with a JWT
USER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+~-]{0,127}")

# The type of key of each algorithm. Asymmetric ones only: a key that verifies must not sign.
KEY_TYPES: dict[str, type[Any]] = {
    "RS256": RSAPublicKey,
    "ES256": EllipticCurvePublicKey,
    "EdDSA": Ed25519PublicKey,
}


async def set_provider(
    graph: Graph, caller: Caller, provider: IdentityProvider, *, private_hosts: bool
) -> IdentityProvider:
    """Set the tenant's identity provider, instead of an earlier one: its JWTs are accepted."""
    if not provider.jwks_url and not provider.public_keys:
        raise Invalid("An identity provider needs a jwks_url or public_keys.")
    if provider.jwks_url:
        check_url(provider.jwks_url, private_hosts=private_hosts)
    for pem in provider.public_keys:
        load_public_key(pem)
    properties = {
        "issuer": provider.issuer,
        "audience": provider.audience,
        "algorithms": provider.algorithms,
        "jwks_url": provider.jwks_url,
        "public_keys": provider.public_keys,
        "updated_at": provider.updated_at,
    }
    audited = {name: properties[name] for name in ("issuer", "audience", "algorithms", "jwks_url")}
    rows = await graph.write(
        "access/identity/set_provider",
        tenant_id=caller.tenant_id,
        provider=properties,
        event=audit_event(caller, "identity_provider_set", provider.updated_at),
        after=json.dumps({**audited, "public_keys": len(provider.public_keys)}),
    )
    if not rows:
        raise NotFound(f"No tenant {caller.tenant_id!r}.")
    return IdentityProvider(**rows[0]["provider"])


async def get_provider(graph: Graph, tenant_id: str) -> IdentityProvider:
    """The identity provider of a tenant."""
    provider = await find_provider(graph, tenant_id)
    if provider is None:
        raise IdentityProviderNotFound
    return provider


async def find_provider(graph: Graph, tenant_id: str) -> IdentityProvider | None:
    """The identity provider of a tenant; None if it has none."""
    rows = await graph.read("access/identity/get_provider", tenant_id=tenant_id)
    return IdentityProvider(**rows[0]["provider"]) if rows else None


async def remove_provider(graph: Graph, caller: Caller, *, now: datetime) -> None:
    """Remove the tenant's identity provider: its JWTs are not accepted any more."""
    rows = await graph.write(
        "access/identity/remove_provider",
        tenant_id=caller.tenant_id,
        event=audit_event(caller, "identity_provider_removed", now),
    )
    if not rows:
        raise IdentityProviderNotFound


class JwtVerifier:
    """Verifies JWTs. The identity providers of tenants are cached for some seconds."""

    def __init__(
        self,
        graph: Graph,
        *,
        seconds: float,
        private_hosts: bool,
        timer: Callable[[], float] = monotonic,
    ) -> None:
        self._graph = graph
        self._key_sets = KeySets(private_hosts=private_hosts)
        self._providers: TTLCache[str, IdentityProvider | None] = TTLCache(
            10_000, ttl=seconds, timer=timer
        )

    async def verify(
        self, text: str, named_tenant: str | None, now: datetime
    ) -> tuple[Caller, datetime]:
        """The caller of a JWT, and when it expires. The error does not say what was wrong."""
        if len(text) > MAX_JWT_LENGTH or text.count(".") != 2:
            raise Unauthenticated
        try:
            header = jwt.get_unverified_header(text)
            tenant_id = named_tenant or read_tenant_id(text)
            if len(tenant_id) > MAX_ID_LENGTH:
                raise Unauthenticated
            provider = await self._provider(tenant_id)
            claims = await self._claims(text, header, tenant_id, provider)
        except (jwt.PyJWTError, ValueError, RecursionError) as error:
            raise Unauthenticated from error
        if not USER_ID.fullmatch(claims["sub"]):
            raise Invalid(
                "The sub of the JWT is no user id: up to 128 of A-Z, a-z, 0-9 and . _ : @ + ~ -"
            )
        expires_at = min(claims["exp"] + LEEWAY_SECONDS, LATEST_TIMESTAMP)
        caller = Caller(tenant_id, KEY_ID, Role.USER, claims["sub"])
        return caller, datetime.fromtimestamp(expires_at, UTC)

    async def _provider(self, tenant_id: str) -> IdentityProvider:
        try:
            provider = self._providers[tenant_id]
        except KeyError:
            provider = await find_provider(self._graph, tenant_id)
            self._providers[tenant_id] = provider
        if provider is None:
            raise Unauthenticated
        return provider

    async def _claims(
        self, text: str, header: dict[str, Any], tenant_id: str, provider: IdentityProvider
    ) -> dict[str, Any]:
        """The claims of a JWT that one of the provider's keys has signed."""
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in provider.algorithms or algorithm not in KEY_TYPES:
            raise Unauthenticated
        keys: list[PublicKey] = [load_public_key(pem) for pem in provider.public_keys]
        if provider.jwks_url:
            keys += await self._key_sets.keys(tenant_id, provider.jwks_url, kid)
        for key in keys:
            if not isinstance(key, KEY_TYPES[algorithm]):
                continue
            try:
                return dict(
                    jwt.decode(
                        text,
                        key,
                        algorithms=[algorithm],
                        audience=provider.audience,
                        issuer=provider.issuer,
                        leeway=LEEWAY_SECONDS,
                        options={"require": ["exp", "iss", "aud", "sub"]},
                    )
                )
            except jwt.InvalidSignatureError:
                continue  # it may be signed by another of the provider's keys
        raise Unauthenticated

    def forget(self, tenant_id: str) -> None:
        """Remove a tenant's identity provider from the cache."""
        self._providers.pop(tenant_id, None)


def read_tenant_id(text: str) -> str:
    """The tenant that the audience of a JWT names. Nothing of the JWT is verified yet."""
    claims = jwt.decode(text, options={"verify_signature": False})
    claimed = claims.get("aud")
    for audience in claimed if isinstance(claimed, list) else [claimed]:
        if isinstance(audience, str) and audience.startswith(AUDIENCE_PREFIX):
            return audience.removeprefix(AUDIENCE_PREFIX)
    raise Unauthenticated


def load_public_key(pem: str) -> PublicKey:
    """A key from its PEM text. Refuses private and weak keys, and those of other types."""
    try:
        key = load_pem_public_key(pem.encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise Invalid("public_keys are PEM texts that begin with BEGIN PUBLIC KEY.") from error
    if not isinstance(key, PublicKey) or not is_strong(key):
        raise Invalid("A public key is RSA of at least 2048 bits, EC P-256 or Ed25519.")
    return key
