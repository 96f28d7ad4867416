"""The ASGI application: Litestar, with a request id, bookmarks and a log line for every request."""

import re
import time
from typing import Any

import structlog
from litestar import Litestar, Request
from litestar.datastructures import Headers, MutableScopeHeaders
from litestar.routes import HTTPRoute
from litestar.status_codes import HTTP_405_METHOD_NOT_ALLOWED
from litestar.types import HTTPScope, Message, Receive, Scope, Send

from engine.access import RATE_WINDOW_SECONDS
from engine.errors import Invalid
from engine.ids import new_id
from engine.models import Allowance
from engine.store import answer_within, causal_chain

REQUEST_ID = "X-Request-Id"
# A caller may send the persona's id in it, for a load balancer; the engine reads the path alone.
PERSONA_HEADER = "X-Persona"
BOOKMARK = "X-Bookmark"  # a caller sends it back to read its own writes from any process

REQUEST_ID_PATTERN = re.compile(r"[A-Za-z0-9._-]{1,64}")
# As Neo4j makes them: base64 behind a prefix, several separated by commas.
BOOKMARK_PATTERN = r"^(FB:[A-Za-z0-9+/]+={0,2}(, ?FB:[A-Za-z0-9+/]+={0,2})*)?$(?!\n)"
MAX_BOOKMARK_LENGTH = 4096  # characters
UNLOGGED = {"/api/health", "/api/ready", "/metrics"}  # polled every few seconds by machines

log = structlog.get_logger("api")


def request_id(scope: Any) -> str:
    return str(scope["state"]["request_id"])


class Application(Litestar):
    """Litestar that wraps every answer, those to unknown paths and errors included.

    Each carries a request id, the bookmark of what it wrote, and the caller's rate limit.
    """

    answer_seconds = 7.0  # for everything a request asks of the graph

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        await self._answer(scope, receive, send)

    async def _answer(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        state = scope.setdefault("state", {})
        headers = Headers.from_scope(scope)
        state["request_id"] = valid_request_id(headers.get(REQUEST_ID, ""))
        bookmarks = parse_bookmarks(headers.get(BOOKMARK, ""))
        state["bad_bookmark"] = bookmarks is None
        status = 0

        with (
            causal_chain(bookmarks or []) as new_bookmarks,
            answer_within(self.answer_seconds),
            structlog.contextvars.bound_contextvars(request_id=state["request_id"]),
        ):

            async def send_with_headers(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                    response_headers = MutableScopeHeaders(message)
                    self._add_headers(response_headers, scope, status)
                    if new_bookmarks:
                        response_headers[BOOKMARK] = ",".join(sorted(new_bookmarks))
                await send(message)

            try:
                await super().__call__(scope, receive, send_with_headers)
            finally:
                log_request(scope, status, time.perf_counter() - started)

    def _add_headers(self, headers: MutableScopeHeaders, scope: HTTPScope, status: int) -> None:
        headers[REQUEST_ID] = request_id(scope)
        if "Allow" in headers or status == HTTP_405_METHOD_NOT_ALLOWED:
            headers["Allow"] = self._allowed_methods(scope)
        if allowance := scope["state"].get("allowance"):
            add_rate_limit(headers, allowance)

    def _allowed_methods(self, scope: HTTPScope) -> str:
        """The methods of a path.

        Litestar's own list names those of the last handler only, and for a method that no handler
        takes it names none.
        """
        path = scope["path"].rstrip("/")
        methods = {
            method
            for route in self.routes
            if isinstance(route, HTTPRoute)
            and re.fullmatch(re.sub(r"\\{[^}]+\\}", "[^/]+", re.escape(route.path_format)), path)
            for method in route.methods
        }
        return ", ".join(sorted(methods))


def valid_request_id(offered: str) -> str:
    """The id that the caller offers, or a new one in place of one that is not well formed."""
    return offered if REQUEST_ID_PATTERN.fullmatch(offered) else new_id()


def parse_bookmarks(header: str) -> list[str] | None:
    """The bookmarks of a header, or None if Neo4j cannot have made them."""
    if len(header) > MAX_BOOKMARK_LENGTH or not re.search(BOOKMARK_PATTERN, header):
        return None
    return [bookmark.strip() for bookmark in header.split(",") if bookmark]


def check_bookmark(request: Request[Any, Any, Any]) -> None:
    """Refuse a malformed bookmark before anything waits for it."""
    if request.scope["state"].get("bad_bookmark") and not request.route_handler.opt.get("open"):
        raise Invalid(f"{BOOKMARK} is not one that an answer carried.")


def add_rate_limit(headers: MutableScopeHeaders, allowance: Allowance) -> None:
    """Add the caller's limit and what remains of it, in the fields of the IETF draft."""
    headers["RateLimit-Policy"] = (
        f'"{allowance.policy}";q={allowance.limit};w={RATE_WINDOW_SECONDS}'
    )
    headers["RateLimit"] = f'"{allowance.policy}";r={allowance.remaining};t={allowance.seconds}'


def log_request(scope: Scope, status: int, seconds: float) -> None:
    """Log one line: the route and never the path, since a path may carry a person's id."""
    if scope["path"] in UNLOGGED and status < 500:
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
