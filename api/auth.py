"""Authentication of requests, and guards by role."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.middleware import AbstractAuthenticationMiddleware, AuthenticationResult

from engine.access import Caller, RateLimiter, Role
from engine.bounds import ID_PATTERN
from engine.errors import ActsForUser, AnotherUser, Forbidden, Invalid, Unauthenticated

USER_HEADER = "X-User-Id"
TENANT_HEADER = "X-Tenant-Id"  # the tenant of a JWT whose audience does not name it

Connection = ASGIConnection[Any, Any, Any, Any]


class Authentication(AbstractAuthenticationMiddleware):
    """Reads the caller from `Authorization: Bearer <key, token or JWT>`, before any route."""

    async def authenticate_request(self, connection: Connection) -> AuthenticationResult:
        scheme, _, text = connection.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not text:
            raise Unauthenticated
        caller: Caller = await connection.app.state.key_ring.caller(
            text.strip(), tenant_id=connection.headers.get(TENANT_HEADER)
        )
        limiter: RateLimiter | None = connection.app.state.limiter
        if limiter:
            connection.scope["state"]["allowance"] = await limiter.take(caller)
        caller = act_for_user(caller, connection.headers.get(USER_HEADER))
        return AuthenticationResult(user=caller, auth=None)


def act_for_user(caller: Caller, user_id: str | None) -> Caller:
    """The caller, limited to the user that the header names.

    The header only takes rights away: analysts and other users' tokens are refused.
    """
    if user_id is None:
        return caller
    if not re.fullmatch(ID_PATTERN, user_id):
        raise Invalid(f"{USER_HEADER} must be an id of at most 128 letters and digits.")
    if caller.role is Role.ANALYST or (caller.role is Role.USER and caller.user_id != user_id):
        raise AnotherUser(caller.role)
    return replace(caller, user_id=user_id)


def only(
    *roles: Role, for_users: bool = True
) -> Callable[[Connection, BaseRouteHandler], Awaitable[None]]:
    """A guard that admits these roles. Without `for_users`, no key that acts for a user."""
    keys = " or ".join(f"'{role.value}'" for role in roles if role is not Role.USER)

    async def guard(connection: Connection, _: BaseRouteHandler) -> None:
        caller: Caller | None = connection.scope.get("user")  # none for OPTIONS
        if caller and caller.role not in roles:
            raise Forbidden(caller.role, keys)
        if caller and caller.user_id and not for_users:
            raise ActsForUser

    return guard


ADMINS = only(Role.ADMIN, for_users=False)
ISSUERS = only(Role.RUNTIME, Role.ADMIN, for_users=False)
OPERATORS = only(Role.RUNTIME, Role.ANALYST, Role.ADMIN, for_users=False)
STAFF = only(Role.RUNTIME, Role.ANALYST, Role.ADMIN)
EDITORS = only(Role.RUNTIME, Role.ADMIN)
PEOPLE = only(Role.RUNTIME, Role.USER, Role.ADMIN)
AUDITORS = only(Role.ANALYST, Role.ADMIN, for_users=False)
