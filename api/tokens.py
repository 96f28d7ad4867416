"""/api/tokens and /api/identity-provider: how people prove who they are"""

from datetime import UTC, datetime
from typing import Annotated

from litestar import Controller, delete, get, post, put
from litestar.di import NamedDependency

from api.auth import ADMINS, ISSUERS
from api.bodies import NewIdentityProvider, NewToken, like
from api.errors import problems
from engine.access import (
    AUDIENCE,
    KINDS,
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


class TokenController(Controller):
    """Tokens live in real time, as keys do, whatever time an admin has set for the engine."""

    tags = ("keys",)

    @post("/tokens", operation_id="issue_token", guards=[ISSUERS], responses=problems(404, 413))
    async def issue(
        self,
        data: Annotated[NewToken, like(user_id="sam", instance_ids=["studio"], minutes=60)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
    ) -> IssuedToken:
        """Make a token for a person in a browser. It ends with the key that made it."""
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
        """Whose JWTs the tenant accepts."""
        return await get_provider(graph, caller.tenant_id)

    @put(
        "/identity-provider",
        operation_id="set_identity_provider",
        guards=[ADMINS],
        responses=problems(413),
    )
    async def set_provider(
        self,
        data: Annotated[
            NewIdentityProvider,
            like(
                issuer="https://login.example.com/",
                jwks_url="https://login.example.com/.well-known/jwks.json",
            ),
        ],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        keys: NamedDependency[KeyRing],
        settings: NamedDependency[Settings],
    ) -> IdentityProvider:
        """Accept the JWTs of a provider, in place of the one before. Their `sub` is the user."""
        provider = IdentityProvider(
            issuer=data.issuer,
            audience=data.audience or f"{AUDIENCE}{caller.tenant_id}",
            algorithms=sorted({*(data.algorithms or KINDS)}),
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
        """Accept no JWTs any more."""
        await remove_provider(graph, caller, now=datetime.now(UTC))
        keys.forget_provider(caller.tenant_id)
