"""What every request gets around it: an id, a log line, and the caller's place in time."""

import re
import time
from typing import Any

import structlog
from litestar import Litestar
from litestar.datastructures import Headers, MutableScopeHeaders
from litestar.routes import HTTPRoute
from litestar.types import HTTPScope, Message, Receive, Scope, Send

from engine.graph import answer_within, causal_chain
from engine.models import new_id

REQUEST_ID = "X-Request-Id"
BOOKMARK = "X-Bookmark"  # what a caller sends back to read its own writes from any process

GOOD_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
PATIENCE = 7.0  # seconds for everything a request asks of the graph
QUIET = {"/api/health", "/api/ready", "/metrics"}  # asked every few seconds by machines

log = structlog.get_logger("api")


def request_id(scope: Any) -> str:
    return str(scope["state"]["request_id"])


class Door(Litestar):
    """Litestar with an envelope around everything it answers, unknown paths and errors included."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        await self._answer(scope, receive, send)

    def _allowed(self, scope: HTTPScope) -> str:
        """The methods of a path. Litestar's own list holds those of the last handler alone."""
        template = scope.get("path_template")
        methods = {
            method
            for route in self.routes
            if isinstance(route, HTTPRoute) and route.path_format == template
            for method in route.methods
        }
        return ", ".join(sorted(methods))

    async def _answer(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        headers = Headers.from_scope(scope)
        offered = headers.get(REQUEST_ID, "")
        given = offered if GOOD_REQUEST_ID.fullmatch(offered) else new_id()
        scope.setdefault("state", {})["request_id"] = given
        bookmarks = [part for part in headers.get(BOOKMARK, "").split(",") if part]
        status = 0

        with (
            causal_chain(bookmarks) as seen,
            answer_within(PATIENCE),
            structlog.contextvars.bound_contextvars(request_id=given),
        ):

            async def sealed(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                    added = MutableScopeHeaders(message)
                    added[REQUEST_ID] = given
                    if "Allow" in added:
                        added["Allow"] = self._allowed(scope)
                    if seen:
                        added[BOOKMARK] = ",".join(sorted(seen))
                await send(message)

            try:
                await super().__call__(scope, receive, sealed)
            finally:
                report(scope, status, time.perf_counter() - started)


def report(scope: Scope, status: int, seconds: float) -> None:
    """One line per request: the route, never the path, since a path may carry a person's id."""
    if scope["path"] in QUIET and status < 500:
        return
    caller = scope.get("user")
    log.info(
        "request",
        method=scope.get("method"),
        route=scope.get("path_template", "unknown"),
        status=status,
        milliseconds=round(seconds * 1000, 2),
        tenant_id=getattr(caller, "tenant_id", None),
        key_id=getattr(caller, "key_id", None),
    )
