"""/api/keys: API keys of the tenant"""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from litestar import Controller, delete, get, post
from litestar.di import NamedDependency

from api.auth import ADMINS
from api.bodies import NewKey, Rotation, body_example
from api.errors import problems
from api.parameters import Cursor, Limit, PathId, in_utc
from engine.access import (
    ApiKey,
    Caller,
    IssuedKey,
    KeyRing,
    Role,
    issue_key,
    list_keys,
    revoke_key,
    rotate_key,
)
from engine.store import Graph, Page


class KeyController(Controller):
    """Uses the real time: a moved engine clock does not move the expiry of keys."""

    path = "/keys"
    tags = ("keys",)
    guards = (ADMINS,)

    @post(operation_id="issue_key", responses=problems(413))
    async def issue(
        self,
        data: Annotated[NewKey, body_example(name="chat backend", role="runtime")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
    ) -> IssuedKey:
        """Make an API key. Its text is in this answer only; nobody can read it again."""
        return await issue_key(
            graph,
            caller.tenant_id,
            name=data.name,
            role=Role(data.role),
            expires_at=in_utc(data.expires_at),
            now=datetime.now(UTC),
            by=caller.acts_as,
        )

    @get(operation_id="list_keys", responses=problems())
    async def page(
        self,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[ApiKey]:
        """List the tenant's API keys, revoked ones included, without their text."""
        return await list_keys(graph, caller.tenant_id, cursor=cursor, limit=limit)

    @post(
        "/{key_id:str}/rotate",
        operation_id="rotate_key",
        status_code=200,
        responses=problems(404, 413),
    )
    async def rotate(
        self,
        key_id: PathId,
        data: Annotated[Rotation, body_example(grace_seconds=3600)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        keys: NamedDependency[KeyRing],
    ) -> IssuedKey:
        """Replace the text of a key. The old text stays valid for `grace_seconds`."""
        issued = await rotate_key(
            graph,
            caller.tenant_id,
            key_id,
            now=datetime.now(UTC),
            grace=timedelta(seconds=data.grace_seconds),
            by=caller.acts_as,
        )
        keys.forget(key_id)
        return issued

    @delete("/{key_id:str}", operation_id="revoke_key", responses=problems(404, 409))
    async def revoke(
        self,
        key_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        keys: NamedDependency[KeyRing],
    ) -> None:
        """Revoke a key for good. The tenant's last admin key cannot be revoked."""
        now = datetime.now(UTC)
        await revoke_key(graph, caller.tenant_id, key_id, now=now, by=caller.acts_as)
        keys.forget(key_id)
