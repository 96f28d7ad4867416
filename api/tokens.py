"""/api/tokens and /api/identity-provider: how users authenticate"""

from datetime import UTC, datetime
from typing import Annotated

from litestar import Controller, delete, get, post, put
from litestar.di import NamedDependency

from api.auth import ADMINS, ISSUERS
from api.bodies import NewIdentityProvider, NewToken, body_example
from api.errors import problems
from engine.access import (
    AUDIENCE_PREFIX,
    KEY_TYPES,
    Caller,
    IdentityProvider,
    IssuedToken,
    KeyRing,
    get_provider,
    issue_token,
    remove_provider,
    set_provider,
)
from engine.settings import Settings
from engine.store import Graph

PROVIDER_EXAMPLE = body_example(
    issuer="https://login.example.com/",
    jwks_url="https://login.example.com/.well-known/jwks.json",
)


class TokenController(Controller):
    """Uses the real time: a moved engine clock does not move the expiry of tokens."""

    tags = ("keys",)

    @post("/tokens", operation_id="issue_token", guards=[ISSUERS], responses=problems(404, 413))
    async def issue(
        self,
        data: Annotated[NewToken, body_example(user_id="sam", instance_ids=["studio"], minutes=60)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
    ) -> IssuedToken:
        """Make a short-lived token for one user, such as a person in a browser.

        It ends at the latest when the key that made it is revoked.
        """
        return await issue_token(
            graph,
            caller,
            user_id=data.user_id,
            instance_ids=data.instance_ids,
            minutes=data.minutes,
            now=datetime.now(UTC),
        )

    @get(
        "/identity-provider",
        operation_id="get_identity_provider",
        guards=[ADMINS],
        responses=problems(404),
    )
    async def provider(
        self, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> IdentityProvider:
        """Get the identity provider whose JWTs the tenant accepts."""
        return await get_provider(graph, caller.tenant_id)

    @put(
        "/identity-provider",
        operation_id="set_identity_provider",
        guards=[ADMINS],
        responses=problems(413),
    )
    async def set_provider(
        self,
        data: Annotated[NewIdentityProvider, PROVIDER_EXAMPLE],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        keys: NamedDependency[KeyRing],
        settings: NamedDependency[Settings],
    ) -> IdentityProvider:
        """Accept the JWTs of an identity provider; it replaces the one before.

        The `sub` of a JWT is the user's id.
        """
        provider = IdentityProvider(
            issuer=data.issuer,
            audience=data.audience or f"{AUDIENCE_PREFIX}{caller.tenant_id}",
            algorithms=sorted({*(data.algorithms or KEY_TYPES)}),
            jwks_url=data.jwks_url,
            public_keys=data.public_keys,
            updated_at=datetime.now(UTC),
        )
        stored = await set_provider(
            graph, caller, provider, private_hosts=settings.jwks_private_hosts
        )
        keys.forget_provider(caller.tenant_id)
        return stored

    @delete(
        "/identity-provider",
        operation_id="remove_identity_provider",
        guards=[ADMINS],
        responses=problems(404),
    )
    async def remove_provider(
        self,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        keys: NamedDependency[KeyRing],
    ) -> None:
        """Remove the identity provider: no JWTs are accepted any more."""
        await remove_provider(graph, caller, now=datetime.now(UTC))
        keys.forget_provider(caller.tenant_id)
