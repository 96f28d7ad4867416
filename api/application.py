"""What every request gets around it: an id, a log line, and the caller's place in time."""

import re
import time
from typing import Any

import structlog
from litestar import Litestar, Request
from litestar.datastructures import Headers, MutableScopeHeaders
from litestar.routes import HTTPRoute
from litestar.status_codes import HTTP_405_METHOD_NOT_ALLOWED
from litestar.types import HTTPScope, Message, Receive, Scope, Send

from engine.access import WINDOW
from engine.errors import Invalid
from engine.ids import new_id
from engine.models import Allowance
from engine.store import answer_within, causal_chain

REQUEST_ID = "X-Request-Id"
BOOKMARK = "X-Bookmark"  # what a caller sends back to read its own writes from any process

GOOD_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# As Neo4j gives them out: some base64, with what it is in front.
GOOD_BOOKMARKS = r"^(FB:[A-Za-z0-9+/]+={0,2}(, ?FB:[A-Za-z0-9+/]+={0,2})*)?$(?!\n)"
LONGEST_BOOKMARKS = 4096  # characters
QUIET = {"/api/health", "/api/ready", "/metrics"}  # asked every few seconds by machines

log = structlog.get_logger("api")


def request_id(scope: Any) -> str:
    return str(scope["state"]["request_id"])


class Application(Litestar):
    """Litestar with an envelope around everything it answers, unknown paths and errors included."""

    answer_seconds = 7.0  # for everything a request asks of the graph

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        await self._answer(scope, receive, send)

    def _allowed(self, scope: HTTPScope) -> str:
        """The methods of a path. Litestar's own list holds those of the last handler alone, and
        for a method that none of them takes it says none."""
        path = scope["path"].rstrip("/")
        methods = {
            method
            for route in self.routes
            if isinstance(route, HTTPRoute)
            and re.fullmatch(re.sub(r"\\{[^}]+\\}", "[^/]+", re.escape(route.path_format)), path)
            for method in route.methods
        }
        return ", ".join(sorted(methods))

    async def _answer(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        headers = Headers.from_scope(scope)
        offered = headers.get(REQUEST_ID, "")
        given = offered if GOOD_REQUEST_ID.fullmatch(offered) else new_id()
        scope.setdefault("state", {})["request_id"] = given
        told = headers.get(BOOKMARK, "")
        good = len(told) <= LONGEST_BOOKMARKS and re.search(GOOD_BOOKMARKS, told) is not None
        bookmarks = [part.strip() for part in told.split(",") if part] if good else []
        scope["state"]["bad_bookmark"] = not good
        status = 0

        with (
            causal_chain(bookmarks) as seen,
            answer_within(self.answer_seconds),
            structlog.contextvars.bound_contextvars(request_id=given),
        ):

            async def sealed(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                    added = MutableScopeHeaders(message)
                    added[REQUEST_ID] = given
                    if "Allow" in added or status == HTTP_405_METHOD_NOT_ALLOWED:
                        added["Allow"] = self._allowed(scope)
                    if allowance := scope["state"].get("allowance"):
                        tell_limit(added, allowance)
                    if seen:
                        added[BOOKMARK] = ",".join(sorted(seen))
                await send(message)

            try:
                await super().__call__(scope, receive, sealed)
            finally:
                report(scope, status, time.perf_counter() - started)


def check_bookmark(request: Request[Any, Any, Any]) -> None:
    """Refuse a bookmark that no answer can have carried, before anything waits for it."""
    if request.scope["state"].get("bad_bookmark") and not request.route_handler.opt.get("open"):
        raise Invalid(f"{BOOKMARK} is not one that an answer carried.")


def tell_limit(headers: MutableScopeHeaders, allowance: Allowance) -> None:
    """The fields of the IETF's draft on rate limits: what the limit is, and what is left of it."""
    headers["RateLimit-Policy"] = f'"{allowance.policy}";q={allowance.limit};w={WINDOW}'
    headers["RateLimit"] = f'"{allowance.policy}";r={allowance.remaining};t={allowance.seconds}'


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
