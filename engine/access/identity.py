"""JWTs of the tenant's identity provider: whose are accepted, and who is speaking.

The tenant a JWT is for is named by its audience `pentimento:<tenant_id>`, or, where the provider
cannot give that audience, by the header X-Tenant-Id. Either only says whose provider is asked: the
signature, issuer and audience are checked against what that tenant's admin has set, so no tenant
can claim another's issuer, and a token for one tenant is none for another.
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
from engine.access.jwks import KeySets, PublicKey, checked_url, is_strong
from engine.access.models import Caller, IdentityProvider, Role
from engine.errors import IdentityProviderNotFound, Invalid, NotFound, Unauthenticated
from engine.store import Graph

AUDIENCE = "pentimento:"  # before the tenant's id
LEEWAY = 30  # seconds two clocks may differ
LONGEST = 8192  # characters of a JWT
LONGEST_ID = 128
KEY_ID = "jwt"  # what stands in a caller's `key_id`
USER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+~-]{0,127}")

# Asymmetric ones only: what checks a signature must not be able to make one.
KINDS: dict[str, type[Any]] = {
    "RS256": RSAPublicKey,
    "ES256": EllipticCurvePublicKey,
    "EdDSA": Ed25519PublicKey,
}


async def set_provider(
    graph: Graph, caller: Caller, provider: IdentityProvider, *, private_hosts: bool
) -> IdentityProvider:
    """Accept the JWTs of this provider, and of no other."""
    if not provider.jwks_url and not provider.public_keys:
        raise Invalid("An identity provider needs a jwks_url or public_keys.")
    if provider.jwks_url:
        checked_url(provider.jwks_url, private_hosts=private_hosts)
    for text in provider.public_keys:
        public_key(text)
    stored = {
        "issuer": provider.issuer,
        "audience": provider.audience,
        "algorithms": provider.algorithms,
        "jwks_url": provider.jwks_url,
        "public_keys": provider.public_keys,
        "updated_at": provider.updated_at,
    }
    summary = {name: stored[name] for name in ("issuer", "audience", "algorithms", "jwks_url")}
    found = await graph.write(
        "access/identity/set_provider",
        tenant_id=caller.tenant_id,
        provider=stored,
        event=audit_event(caller, "identity_provider_set", provider.updated_at),
        after=json.dumps({**summary, "public_keys": len(provider.public_keys)}),
    )
    if not found:
        raise NotFound(f"No tenant {caller.tenant_id!r}.")
    return IdentityProvider(**found[0]["provider"])


async def get_provider(graph: Graph, tenant_id: str) -> IdentityProvider:
    found = await graph.read("access/identity/get_provider", tenant_id=tenant_id)
    if not found:
        raise IdentityProviderNotFound
    return IdentityProvider(**found[0]["provider"])


async def remove_provider(graph: Graph, caller: Caller, *, now: datetime) -> None:
    """Accept no JWTs any more."""
    found = await graph.write(
        "access/identity/remove_provider",
        tenant_id=caller.tenant_id,
        event=audit_event(caller, "identity_provider_removed", now),
    )
    if not found:
        raise IdentityProviderNotFound


class JwtVerifier:
    """Checks JWTs. What a tenant's admin has set is remembered for some seconds."""

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
        """Who the JWT speaks for, and until when; one sentence for every way it can be wrong."""
        if len(text) > LONGEST or text.count(".") != 2:
            raise Unauthenticated
        try:
            header = jwt.get_unverified_header(text)
            tenant_id = named_tenant or tenant_in(text)
            if len(tenant_id) > LONGEST_ID:
                raise Unauthenticated
            provider = await self._provider(tenant_id)
            claims = await self._claims(text, header, tenant_id, provider)
        except (jwt.PyJWTError, ValueError, RecursionError) as error:
            raise Unauthenticated from error
        if not USER_ID.fullmatch(claims["sub"]):
            raise Invalid(
                "The sub of the JWT is no user id: up to 128 of A-Z, a-z, 0-9 and . _ : @ + ~ -"
            )
        until = datetime.fromtimestamp(min(claims["exp"] + LEEWAY, 253_402_300_799), UTC)
        return Caller(tenant_id, KEY_ID, Role.USER, claims["sub"]), until

    async def _provider(self, tenant_id: str) -> IdentityProvider:
        try:
            provider = self._providers[tenant_id]
        except KeyError:
            found = await self._graph.read("access/identity/get_provider", tenant_id=tenant_id)
            provider = IdentityProvider(**found[0]["provider"]) if found else None
            self._providers[tenant_id] = provider
        if provider is None:
            raise Unauthenticated
        return provider

    async def _claims(
        self, text: str, header: dict[str, Any], tenant_id: str, provider: IdentityProvider
    ) -> dict[str, Any]:
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in provider.algorithms or algorithm not in KINDS:
            raise Unauthenticated
        keys: list[PublicKey] = [public_key(text) for text in provider.public_keys]
        if provider.jwks_url:
            keys += await self._key_sets.keys(tenant_id, provider.jwks_url, kid)
        for key in keys:
            if not isinstance(key, KINDS[algorithm]):
                continue
            try:
                return dict(
                    jwt.decode(
                        text,
                        key,
                        algorithms=[algorithm],
                        audience=provider.audience,
                        issuer=provider.issuer,
                        leeway=LEEWAY,
                        options={"require": ["exp", "iss", "aud", "sub"]},
                    )
                )
            except jwt.InvalidSignatureError:
                continue  # signed by another of the provider's keys, perhaps
        raise Unauthenticated

    def forget(self, tenant_id: str) -> None:
        self._providers.pop(tenant_id, None)


def tenant_in(text: str) -> str:
    """The tenant that the JWT's audience names. Nothing in it is proven yet."""
    claims = jwt.decode(text, options={"verify_signature": False})
    given = claims.get("aud")
    for audience in given if isinstance(given, list) else [given]:
        if isinstance(audience, str) and audience.startswith(AUDIENCE):
            return audience.removeprefix(AUDIENCE)
    raise Unauthenticated


def public_key(text: str) -> PublicKey:
    """A key from its PEM text; a private one, a weak one or another kind is refused."""
    try:
        key = load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise Invalid("public_keys are PEM texts that begin with BEGIN PUBLIC KEY.") from error
    if not isinstance(key, PublicKey) or not is_strong(key):
        raise Invalid("A public key is RSA of at least 2048 bits, EC P-256 or Ed25519.")
    return key
