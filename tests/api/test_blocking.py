"""No request holds the event loop, whatever it carries inside the bounds."""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.application import Application
from engine import bounds
from engine.access.keys import issue_key
from engine.access.models import Role
from engine.settings import Settings
from engine.store.graph import Graph
from tests.api.conftest import a_client, living
from tests.lives import BORN, Life
from tests.watchdog import Watchdog, Watched, watching

pytestmark = pytest.mark.timeout(600)

LONGEST = bounds.MESSAGE  # characters of a message
MANY = 1_000  # messages in a call
CHANCE = random.Random(5)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def distinct(characters: int) -> str:
    """Different words, one after the other, in sentences."""
    text = "".join(CHANCE.choices(LETTERS + "     ", k=characters))
    return ". ".join(part.capitalize() for part in text.split("  "))[:characters]


TEXTS = {
    "one word": "a" * LONGEST,
    "words": distinct(LONGEST),
    "sentences": ("I live in Lisbon and I love my dog. " * LONGEST)[:LONGEST],
    "Japanese": "".join(chr(CHANCE.randint(0x4E00, 0x9FA5)) for _ in range(LONGEST)),
    "Thai": "".join(chr(CHANCE.randint(0x0E01, 0x0E2E)) for _ in range(LONGEST)),
    "code": ("def f(x):\n    return {'a': [x**2 for x in range(10)], \"b\": None}\n" * LONGEST)[
        :LONGEST
    ],
    "marks": ("...!?..." * LONGEST)[:LONGEST],
    "emoji": ("\U0001f600 A" * LONGEST)[:LONGEST],
    "combining": ("e\u0301\u0323" * LONGEST)[:LONGEST],
}
QUERIES = {name: text[:4000] for name, text in TEXTS.items()}


@pytest.fixture
def watchdog() -> Iterator[Watchdog]:
    with watching() as dog:
        yield dog


@pytest.fixture(scope="module")
async def app(settings: Settings, graph: Graph) -> AsyncIterator[Application]:
    """The API with time for what it is asked: how long Neo4j takes is not what is measured here."""
    patient = {"neo4j_patience": 120.0, "answer_seconds": 120.0}
    async with living(create_app(settings.model_copy(update=patient))) as opened:
        yield opened


@pytest.fixture
async def client(app: Application, life: Life) -> AsyncIterator[httpx.AsyncClient]:
    now = datetime.now(BORN.tzinfo)
    issued = await issue_key(life.graph, life.tenant_id, name="test", role=Role.ADMIN, now=now)
    async with a_client(Watched(app), issued.api_key) as opened:
        yield opened


def message(place: int, content: str) -> dict[str, Any]:
    return {
        "message_id": f"m{place}",
        "persona_id": "ada",
        "role": "user",
        "content": content,
        "timestamp": (BORN + timedelta(seconds=place)).isoformat(),
        "speaker": "Sam",
    }


async def ask(client: httpx.AsyncClient, method: str, path: str, **options: Any) -> Any:
    answer = await client.request(method, f"/api{path}", timeout=120, **options)
    assert answer.status_code in (200, 201), answer.text[:500]
    return answer


async def say(client: httpx.AsyncClient, *contents: str, first: int = 0) -> None:
    said = [message(first + place, content) for place, content in enumerate(contents)]
    await ask(client, "POST", "/conversations/monday/messages", json={"messages": said})


async def every_route(client: httpx.AsyncClient, text: str, query: str, *, first: int) -> None:
    """What is done with one conversation whose last message is this text."""
    said, kept = f"m{first + 1}", f"k{first}"
    await say(client, "I live in Lisbon.", text, first=first)
    await ask(client, "GET", "/conversations/monday/messages")
    for path, body in (
        ("/personas/ada/recall", {"query": query, "explain": True, "limit": 50}),
        ("/personas/ada/context", {"conversation_id": "monday", "budget": 1_000_000}),
        ("/personas/ada/hydrate", {"budget": 1_000_000}),
        (f"/messages/{said}/forget", {}),
        (f"/messages/{said}/undo", {}),
    ):
        await ask(client, "POST", path, json=body)
    new = {"memory_type": "semantic", "text": query, "content": {"said": query}, "memory_id": kept}
    await ask(client, "POST", "/personas/ada/memories", json=new)
    proposed = {"memory_type": "episodic", "text": query, "candidate_id": f"c{first}"}
    await ask(client, "POST", "/personas/ada/candidates", json=proposed)
    for path in (
        f"/memories/{kept}",
        f"/memories/{kept}/history",
        f"/messages/{said}/history",
        "/items?sort=newest",
        "/conversations/monday/export?format=markdown",
        "/conversations/monday/checkpoints",
        "/personas/ada/candidates",
        "/personas/ada/memories",
    ):
        await ask(client, "GET", path)


@pytest.mark.parametrize("kind", TEXTS)
async def test_a_text_of_any_kind_holds_no_loop(
    client: httpx.AsyncClient, watchdog: Watchdog, kind: str
) -> None:
    await every_route(
        client, "Good morning!", "morning", first=0
    )  # what is loaded once is loaded now
    watchdog.clear()

    await every_route(client, TEXTS[kind], QUERIES[kind], first=10)
    if watchdog.blocks:  # a guest's processor may stand still; what is slow is slow twice
        watchdog.clear()
        await every_route(client, TEXTS[kind][1:], QUERIES[kind][1:], first=20)

    assert not watchdog.blocks, watchdog.report()


async def test_as_much_as_a_call_may_carry_holds_no_loop(
    client: httpx.AsyncClient, watchdog: Watchdog, settings: Settings
) -> None:
    await every_route(client, "Good morning!", "morning", first=0)
    room = settings.max_body_bytes // MANY - len(json.dumps(message(MANY, ""))) - 20
    watchdog.clear()

    await as_much_as_can_be(client, room, first=10)
    if watchdog.blocks:  # as above
        watchdog.clear()
        await as_much_as_can_be(client, room, first=10 + MANY)

    assert not watchdog.blocks, watchdog.report()


async def as_much_as_can_be(client: httpx.AsyncClient, room: int, *, first: int) -> None:
    """What is done with a conversation of as many messages as a call may carry, or more."""
    await say(client, *(distinct(room) for _ in range(MANY)), first=first)
    for path in (
        "/conversations/monday/messages?limit=500",
        "/conversations/monday/export?format=jsonl",
        "/items?limit=500",
    ):
        await ask(client, "GET", path)
    ends = {"first_message_id": f"m{first}", "last_message_id": f"m{first + MANY - 1}"}
    body = {**ends, "confirmed": True}
    flagged = await ask(client, "POST", "/conversations/monday/forget-range", json=body)
    wanted = {"conversation_id": "monday", "budget": 1_000_000, "turns": 500}
    await ask(client, "POST", "/personas/ada/context", json=wanted)
    await ask(client, "GET", f"/ranges/{flagged.json()['range_id']}")
    await ask(client, "POST", f"/ranges/{flagged.json()['range_id']}/undo", json={})
    await ask(client, "POST", "/personas/ada/context", json=wanted)


def test_a_step_that_holds_the_loop_is_told_with_its_place() -> None:
    """The watchdog itself: it bites."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0)
        spin(0.2)

    def spin(seconds: float) -> None:
        until = time.thread_time() + seconds
        while time.thread_time() < until:
            pass

    with watching() as dog:
        asyncio.run(Watched(app)({"type": "http", "method": "GET", "path": "/slow"}, None, None))

    (block,) = dog.blocks
    assert block.seconds >= 0.2
    assert "GET /slow held the loop" in dog.report()
