"""Who is asking, and may they."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.middleware import AbstractAuthenticationMiddleware, AuthenticationResult

from engine.errors import Forbidden, Invalid, Unauthenticated
from engine.models import Caller, Role

USER_HEADER = "X-User-Id"
ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._:@+~-]{0,127}$"

Connection = ASGIConnection[Any, Any, Any, Any]


class Authentication(AbstractAuthenticationMiddleware):
    """Turns `Authorization: Bearer <key>` into the caller, before any route is entered."""

    async def authenticate_request(self, connection: Connection) -> AuthenticationResult:
        scheme, _, text = connection.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not text:
            raise Unauthenticated
        caller: Caller = await connection.app.state.key_ring.caller(text.strip())
        user_id = connection.headers.get(USER_HEADER)
        if user_id is not None:
            if not re.fullmatch(ID_PATTERN, user_id):
                raise Invalid(f"{USER_HEADER} must be an id of at most 128 letters and digits.")
            caller = replace(caller, user_id=user_id)
        if caller.role is Role.USER and not caller.user_id:
            raise Invalid(f"A key with the role 'user' speaks for a person: send {USER_HEADER}.")
        return AuthenticationResult(user=caller, auth=None)


def only(*roles: Role) -> Callable[[Connection, BaseRouteHandler], Awaitable[None]]:
    """A guard that lets these roles through."""

    async def guard(connection: Connection, _: BaseRouteHandler) -> None:
        caller: Caller | None = connection.scope.get("user")  # nobody, when asked for OPTIONS
        if caller and caller.role not in roles:
            raise Forbidden(caller.role, " or ".join(repr(role.value) for role in roles))

    return guard


STAFF = only(Role.RUNTIME, Role.ANALYST, Role.ADMIN)
EDITORS = only(Role.RUNTIME, Role.ADMIN)
PEOPLE = only(Role.RUNTIME, Role.USER, Role.ADMIN)
AUDITORS = only(Role.ANALYST, Role.ADMIN)
