"""Answers as gzip for callers that take it, compressed in a thread when they are large.

Litestar's own middleware compresses on the event loop, which megabytes of text hold for 0.1 s.
"""

import asyncio
import re
import zlib

from litestar.datastructures import Headers, MutableScopeHeaders
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, HTTPResponseStartEvent, Message, Receive, Scope, Send

MIN_BYTES = 1024
THREAD_BYTES = 64 * 1024  # less than this takes under a millisecond
LEVEL = 3  # 8.6 ms for 1 MB of text, to 18 %; level 6 takes 23.5 ms, to 16 %
ZERO_WEIGHT = re.compile(r"\bq\s*=\s*0(?:\.0*)?\s*$")
GZIP_WINDOW = 16 + zlib.MAX_WBITS  # with gzip's header and checksum


class GzipMiddleware(ASGIMiddleware):
    """Compresses answers of at least MIN_BYTES, and all that come in parts.

    Routes with the option `uncompressed` are left alone: compression would hold their events back.
    """

    scopes = (ScopeType.HTTP,)
    exclude_opt_key = "uncompressed"

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        accepted = Headers.from_scope(scope).get("accept-encoding", "")
        await next_app(scope, receive, GzipSend(send) if accepts_gzip(accepted) else send)


def accepts_gzip(accept_encoding: str) -> bool:
    """Whether gzip is among the encodings, and not with a weight of zero."""
    return any(
        encoding.strip().lower() == "gzip" and not ZERO_WEIGHT.search(weight)
        for encoding, _, weight in (part.partition(";") for part in accept_encoding.split(","))
    )


class GzipSend:
    """Sends the messages of one answer, compressed if it is large enough."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: HTTPResponseStartEvent | None = None
        self._gzip = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP_WINDOW)
        self._is_compressed = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message  # its headers depend on the first part of the body
            return
        if message["type"] != "http.response.body":
            await self._send(message)
            return
        more = message.get("more_body", False)
        start, self._start = self._start, None
        if start is not None:
            encoded = "Content-Encoding" in MutableScopeHeaders(start)
            self._is_compressed = not encoded and (more or len(message["body"]) >= MIN_BYTES)
        if self._is_compressed:
            message["body"] = await self._compress(message["body"], is_last=not more)
        if start is not None:
            if self._is_compressed:
                set_headers(start, None if more else len(message["body"]))
            await self._send(start)
        await self._send(message)

    async def _compress(self, body: bytes, *, is_last: bool) -> bytes:
        if len(body) > THREAD_BYTES:
            return await asyncio.to_thread(self._compress_now, body, is_last)
        return self._compress_now(body, is_last)

    def _compress_now(self, body: bytes, is_last: bool) -> bytes:
        flush = zlib.Z_FINISH if is_last else zlib.Z_SYNC_FLUSH
        return self._gzip.compress(body) + self._gzip.flush(flush)


def set_headers(start: HTTPResponseStartEvent, length: int | None) -> None:
    """Say that the body is compressed, and how long it is if that is known."""
    headers = MutableScopeHeaders(start)
    headers["Content-Encoding"] = "gzip"
    headers.extend_header_value("vary", "Accept-Encoding")
    if length is None:
        del headers["Content-Length"]
    else:
        headers["Content-Length"] = str(length)
