"""What happens around an answer: calls from pages of other origins, and compression."""

import gzip
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from api.app import create_app
from api.application import Application
from api.compression import GzipSend, accepts_gzip
from engine.settings import Settings
from engine.store.graph import Graph
from tests.api.conftest import a_client, living
from tests.api.example_walk import first_chunk
from tests.lives import Life

OURS, OTHER = "https://app.example.com", "https://elsewhere.example.com"
PREFLIGHT = {
    "Access-Control-Request-Method": "PATCH",
    "Access-Control-Request-Headers": "authorization,content-type,x-bookmark",
}


@pytest.fixture(scope="module")
async def open_app(settings: Settings, graph: Graph) -> AsyncIterator[Application]:
    """An API that pages of two origins may call."""
    origins = {"cors_origins": f"{OURS}, http://localhost:3000"}
    async with living(create_app(settings.model_copy(update=origins))) as app:
        yield app


@pytest.fixture
async def browser(
    open_app: Application, admin: httpx.AsyncClient
) -> AsyncIterator[httpx.AsyncClient]:
    async with a_client(open_app) as client:
        client.headers["Authorization"] = admin.headers["Authorization"]
        yield client


async def test_a_page_of_an_allowed_origin_may_ask_and_call(browser: httpx.AsyncClient) -> None:
    without_key = {"Authorization": ""}  # as browsers send a preflight

    asked = await browser.options(
        "/api/personas/x", headers={"Origin": OURS} | PREFLIGHT | without_key
    )
    called = await browser.post("/api/personas", json={"name": "Ada"}, headers={"Origin": OURS})
    refused = await browser.get("/api/personas/absent", headers={"Origin": OURS})

    assert asked.status_code == 204
    assert asked.headers["access-control-allow-origin"] == OURS
    assert "PATCH" in asked.headers["access-control-allow-methods"]
    allowed = asked.headers["access-control-allow-headers"].lower()
    assert {"authorization", "x-bookmark", "x-user-id"} <= {*allowed.split(", ")}
    for answer in (called, refused):
        exposed = answer.headers["access-control-expose-headers"]
        assert answer.headers["access-control-allow-origin"] == OURS
        assert "access-control-allow-credentials" not in answer.headers
        assert {"X-Bookmark", "RateLimit", "Retry-After"} <= {*exposed.split(", ")}


@pytest.mark.parametrize(
    "origin", [OTHER, f"{OURS}.evil.example", "null", "http://app.example.com"]
)
async def test_a_page_of_another_origin_is_not_let_in(
    browser: httpx.AsyncClient, origin: str
) -> None:
    asked = await browser.options("/api/personas/x", headers={"Origin": origin} | PREFLIGHT)
    called = await browser.get("/api/personas", headers={"Origin": origin})

    for answer in (asked, called):
        assert "access-control-allow-origin" not in answer.headers


async def test_without_the_setting_no_origin_is_let_in(admin: httpx.AsyncClient) -> None:
    asked = await admin.options("/api/personas/x", headers={"Origin": OURS} | PREFLIGHT)
    called = await admin.get("/api/personas", headers={"Origin": OURS})

    for answer in (asked, called):
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("origins", ["app.example.com", f"{OURS}/", f"{OURS}/page", "https://*.x"])
def test_what_is_no_origin_is_refused_at_the_start(origins: str) -> None:
    with pytest.raises(ValidationError, match="is not an origin"):
        Settings(_env_file=None, cors_origins=origins)


async def test_a_long_listing_is_compressed_and_a_short_answer_is_not(
    admin: httpx.AsyncClient,
) -> None:
    for place in range(20):
        body = {"name": "Ada", "identity": f"You are number {place}. " * 20}
        await admin.post("/api/personas", json=body)

    long = await admin.get("/api/personas")
    short = await admin.get("/api/health")
    plain = await admin.get("/api/personas", headers={"Accept-Encoding": "identity"})

    assert long.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in long.headers["vary"]
    assert int(long.headers["content-length"]) < len(plain.content) / 4
    assert "content-encoding" not in short.headers
    assert "content-encoding" not in plain.headers
    assert long.json() == plain.json()


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, br", False),
        ("identity", False),
        ("xgzip", False),
        ("", False),
    ],
)
def test_gzip_is_for_those_who_take_it(header: str, accepted: bool) -> None:
    assert accepts_gzip(header) == accepted


async def test_an_answer_in_parts_is_one_gzip_stream_and_large_parts_too() -> None:
    parts = [b"small ", b"large " * 50_000, b""]
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    gzipped = GzipSend(send)
    await gzipped(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]}
    )
    for place, part in enumerate(parts):
        more = place < len(parts) - 1
        await gzipped({"type": "http.response.body", "body": part, "more_body": more})

    headers = dict(sent[0]["headers"])
    assert headers[b"content-encoding"] == b"gzip"
    assert b"content-length" not in headers
    assert gzip.decompress(b"".join(message["body"] for message in sent[1:])) == b"".join(parts)


async def test_events_are_neither_compressed_nor_held_back(
    app: Application, admin: httpx.AsyncClient, life: Life
) -> None:
    (message_id,) = await life.say("I moved to Lisbon.")
    await admin.post(f"/api/messages/{message_id}/forget")
    headers = dict(admin.headers) | {"accept-encoding": "gzip", "last-event-id": "0"}

    start, chunk = await first_chunk(app, "/api/conversations/monday/events", headers)

    assert b"content-encoding" not in dict(start["headers"])
    assert b"event: flagged" in chunk
