"""Whatever the bounds allow can be stored, indexed, flagged, recalled, exported and consolidated.

Texts, ids, names, tags, speakers and titles at their limits, in several scripts, through the API
over a real Neo4j, with real nights.
"""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from api.app import create_app
from engine import bounds
from engine.access.keys import issue_key
from engine.access.models import Role
from engine.access.tenants import add_tenant
from engine.embedding import open_embedder
from engine.extraction.port import RuleExtractor
from engine.ids import new_id
from engine.memory.drawing import draw_candidates
from engine.night.nights import run_night
from engine.settings import Settings
from engine.store.graph import Graph
from tests.api.conftest import a_client
from tests.conftest import clear
from tests.machines import ROUNDS

NOW = datetime(2026, 5, 2, 12, tzinfo=UTC)

WORDS = {
    "latin": ["I", "moved", "to", "Lisbon", "naïve", "ﬁﬂ", "Ǆ"],
    "cyrillic": ["Я", "живу", "в", "Лиссабоне", "ёжик"],
    "cjk": ["私は", "東京", "に住んでいます", "漢字", "𠮷野家"],
    "thai": ["ผม", "อาศัยอยู่", "ที่", "กรุงเทพ"],
    "hindi": ["मैं", "दिल्ली", "में", "रहता", "हूँ", "क्षत्रिय"],
    "arabic": ["أعيش", "في", "لشبونة", "ﷺ"],
    "hebrew": ["אני", "גר", "\u202b", "\u202c", "\u200f"],
    "emoji": ["👩‍🚀", "👨‍👩‍👧‍👦", "🏳️‍🌈", "😀", "🇵🇹"],
    "combining": ["e\u0301", "a\u0308\u0323", "Z\u0351\u036b\u0343\u036a"],
    "lucene": ["AND", "OR", "text:*", "a^9", "(((", '"', "\\", "/re/", "~", "[a TO b]"],
    "markup": ["<b>", "```", "\t", "\u2028", "\u0085", "\r\n", "\u200b", "\ufeff"],
}


@st.composite
def texts(draw: st.DrawFn, most: int, least: int = 1) -> str:
    """A text of one or two scripts, with or without spaces, often as long as it may be."""
    scripts = draw(st.lists(st.sampled_from(sorted(WORDS)), min_size=1, max_size=2))
    words = [word for script in scripts for word in WORDS[script]]
    between = draw(st.sampled_from([" ", "", ". ", "\n"]))
    size = draw(st.sampled_from([most, most, most - 1, min(most, 60), max(least, 1)]))
    different = draw(st.booleans())
    parts: list[str] = []
    length = 0
    while length < size:
        place = len(parts)
        part = words[place % len(words)] + (str(place) if different else "") + between
        parts.append(part)
        length += len(part)
    text = "".join(parts)[:size]
    # Python cuts between code points, so no half of a pair is left; but not all may be spaces.
    return text if text.strip() else "x" * size


@st.composite
def ids(draw: st.DrawFn) -> str:
    """An id nobody else has, of any length up to the limit."""
    alphabet = "abcXYZ019._:@+~-"
    tail = draw(st.text(alphabet, max_size=bounds.ID - 33))
    fill = "x" * (bounds.ID - 32 - len(tail)) if draw(st.booleans()) else ""
    return new_id() + tail + fill


@st.composite
def lives(draw: st.DrawFn) -> dict[str, Any]:
    """Everything that one persona is given."""
    return {
        "persona_id": draw(ids()),
        "name": draw(texts(bounds.NAME)),
        "identity": draw(texts(bounds.IDENTITY)),
        "instance_id": draw(ids()),
        "conversation_id": draw(ids()),
        "title": draw(texts(bounds.TITLE)),
        "user_id": draw(ids()),
        "speaker": draw(texts(bounds.SPEAKER)),
        "contents": draw(st.lists(texts(bounds.MESSAGE), min_size=2, max_size=3)),
        "text": draw(texts(bounds.ITEM_TEXT)),
        "subject": draw(texts(bounds.SUBJECT)),
        "attribute": draw(texts(bounds.ATTRIBUTE)),
        "category": draw(texts(bounds.CATEGORY)),
        "value": draw(texts(1000)),
        "valence": draw(st.sampled_from([-1, -0.5, 0, 1, 1.0])),
        "tags": draw(st.lists(texts(bounds.TAG), min_size=1, max_size=3, unique=True)),
        "project": draw(texts(bounds.PROJECT)),
        "query": draw(texts(bounds.QUERY)),
    }


class Household:
    """An app and a tenant on a loop of their own."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.loop = asyncio.new_event_loop()
        self.graph = Graph.open(settings).with_limit(120)
        self.embedder = open_embedder(settings)
        self.tenant_id = f"test-{new_id()}"

    async def enter(self) -> None:
        await add_tenant(self.graph, self.tenant_id, name="Test", now=NOW)
        issued = await issue_key(self.graph, self.tenant_id, name="test", role=Role.ADMIN, now=NOW)
        app = create_app(self.settings)
        opened = asyncio.Event()

        async def live() -> None:  # a task of its own, since a lifespan must end where it began
            async with app.lifespan():
                opened.set()
                await self.done.wait()

        self.done = asyncio.Event()
        self.living = asyncio.create_task(live())
        await opened.wait()
        self.admin = a_client(app, issued.api_key)

    async def leave(self) -> None:
        await self.admin.aclose()
        self.done.set()
        await self.living
        await clear(self.graph, [self.tenant_id])
        self.embedder.close()
        await self.graph.close()

    async def send(self, method: str, path: str, body: Any = None) -> httpx.Response:
        answer = await self.admin.request(method, f"/api{path}", json=body)
        assert answer.status_code < 300, (method, path.split("/")[-1], answer.text[:500])
        return answer

    async def live(self, given: dict[str, Any]) -> None:
        """Send all of it, and see that all of it comes back."""
        persona, conversation = given["persona_id"], given["conversation_id"]
        await self.send(
            "POST",
            "/personas",
            {"id": persona, "name": given["name"], "identity": given["identity"]},
        )
        await self.send("POST", "/instances", {"id": given["instance_id"], "name": given["name"]})
        user = f"/instances/{given['instance_id']}/members/{given['user_id']}"
        await self.send("PUT", user, {})
        await self.send(
            "POST",
            "/conversations",
            {
                "id": conversation,
                "instance_id": given["instance_id"],
                "persona_ids": [persona],
                "title": given["title"],
            },
        )
        messages = [
            {
                "message_id": new_id(),
                "persona_id": persona,
                "role": "persona" if place % 2 else "user",
                "content": content,
                "timestamp": (NOW + timedelta(minutes=place)).isoformat(),
                **({} if place % 2 else {"speaker": given["speaker"], "user_id": given["user_id"]}),
            }
            for place, content in enumerate(given["contents"])
        ]
        await self.send("POST", f"/conversations/{conversation}/messages", {"messages": messages})
        await draw_candidates(
            self.graph, self.embedder, RuleExtractor(), self.tenant_id, conversation, now=NOW
        )
        content = {
            name: given[name] for name in ("subject", "attribute", "value", "category", "valence")
        }
        item = {"memory_type": "semantic", "text": given["text"], "content": content}
        kept = await self.send(
            "POST",
            f"/personas/{persona}/memories",
            {**item, "tags": given["tags"], "project": given["project"]},
        )
        proposed = await self.send("POST", f"/personas/{persona}/candidates", item)
        assert kept.json()["content"] == proposed.json()["content"] == content

        await self.look_for(given)
        first = messages[0]["message_id"]
        await self.send("POST", f"/messages/{first}/forget")
        await self.look_for(given)
        await self.send("POST", f"/messages/{first}/undo", {})
        exported = await self.send("GET", f"/conversations/{conversation}/export")
        lines = [json.loads(line) for line in exported.content.decode().split("\n") if line]
        said = [line["content"] for line in lines if "content" in line]
        assert said == given["contents"]

        night = await run_night(
            self.graph,
            self.tenant_id,
            persona,
            now=NOW + timedelta(days=3),
            started_by="test",
        )
        assert night.state == "done"
        assert not night.failures, night
        await self.look_for(given)
        memory = await self.send("GET", f"/memories/{kept.json()['memory_id']}")
        assert memory.json()["text"] == given["text"]

    async def look_for(self, given: dict[str, Any]) -> None:
        """Ask for it in every way there is."""
        persona, conversation = given["persona_id"], given["conversation_id"]
        by_category = await self.send(
            "POST",
            f"/personas/{persona}/recall",
            {"query": given["query"], "categories": [given["category"]], "counts": False},
        )
        assert given["text"] in [hit["text"] for hit in by_category.json()["hits"]]
        by_tag = await self.send(
            "POST",
            f"/personas/{persona}/recall",
            {
                "query": given["text"],
                "tags": given["tags"],
                "project": given["project"],
                "asked_by": given["speaker"],
                "explain": True,
                "counts": False,
            },
        )
        assert given["text"] in [hit["text"] for hit in by_tag.json()["hits"]]
        wanted = {"conversation_id": conversation, "budget": 1_000_000}
        await self.send("POST", f"/personas/{persona}/context", wanted)
        waking = {"project": given["project"], "budget": 1_000_000}
        await self.send("POST", f"/personas/{persona}/hydrate", waking)
        listed = await self.admin.get(
            "/api/items", params={"persona_id": persona, "q": given["value"][:100]}
        )
        assert listed.status_code == 200, listed.text


def live_through(settings: Settings) -> None:
    """Runs on a thread, since hypothesis and the tests' event loop do not share one."""
    house = Household(settings)
    house.loop.run_until_complete(house.enter())

    @hypothesis_settings(
        max_examples=6 * ROUNDS,
        deadline=None,
        derandomize=ROUNDS == 1,
        phases=[Phase.explicit, Phase.generate],  # what fails is long, and so is making it shorter
        suppress_health_check=list(HealthCheck),
    )
    @given(lives())
    def every_life(given_to_it: dict[str, Any]) -> None:
        house.loop.run_until_complete(house.live(given_to_it))

    try:
        every_life()
    finally:
        house.loop.run_until_complete(house.leave())
        house.loop.close()


@pytest.mark.timeout(900)
@pytest.mark.spec("SEC-05")
async def test_whatever_the_bounds_allow_can_be_kept_recalled_and_slept_over(
    settings: Settings, graph: Graph
) -> None:
    await asyncio.to_thread(live_through, settings)
