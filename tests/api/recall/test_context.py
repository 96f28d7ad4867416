"""Context and recall at the edges of what callers may send, through the API with the real model."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from engine import bounds
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message
from engine.recall.uses import count_recorded_uses
from engine.service.warmup import HOT_STATEMENTS, WarmUpState, warm_up
from engine.settings import Settings
from engine.store.broker import open_broker
from tests.api.conftest import NewCaller
from tests.lives import BORN, RULES, Life

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
QUERY, CONTENT = bounds.QUERY, bounds.MESSAGE  # characters


@pytest.fixture
async def admin(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    return await new_caller(life.tenant_id)


async def say(client: httpx.AsyncClient, *contents: str, **more: Any) -> None:
    """Send what was said a minute apart, one message at a time."""
    for place, content in enumerate(contents):
        at = more.pop("at", NOON) + timedelta(minutes=place)
        message = {
            "message_id": f"said-{at:%d-%H-%M}",
            "persona_id": "ada",
            "role": "user",
            "content": content,
            "timestamp": at.isoformat(),
            **more,
        }
        answer = await client.post(
            "/api/conversations/monday/messages", json={"messages": [message]}
        )
        assert answer.status_code == 201, answer.text


async def ask(client: httpx.AsyncClient, what: str, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"/api/personas/ada/{what}", json=body)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def different_words(characters: int) -> str:
    text = " ".join(f"word{number:x}" for number in range(characters // 5))
    return text[:characters]


def run_of(first: int, count: int) -> str:
    """Different letters of one script, without a space."""
    return "".join(chr(first + place) for place in range(count))


WORDY: dict[str, Callable[[int], str]] = {
    "different words": different_words,
    "ideographs": lambda characters: (run_of(0x4E00, 20_900) * 4)[:characters],
    "hiragana": lambda characters: (run_of(0x3041, 80) * characters)[:characters],
    "katakana": lambda characters: (run_of(0x30A1, 80) * characters)[:characters],
    "japanese": lambda characters: ("私は東京に住んでいます明日は雨が降る" * characters)[
        :characters
    ],
    "hangul": lambda characters: run_of(0xAC00, min(characters, 11_000)),
    "thai": lambda characters: ("ฉันชอบดื่มชาเขียวทุกเช้า" * characters)[:characters],
    "hindi": lambda characters: ("मुझे चाय पसंद है " * characters)[:characters],
    "arabic": lambda characters: ("أعيش في القاهرة الكبيرة " * characters)[:characters],
    "cyrillic": lambda characters: " ".join(
        "".join(chr(0x430 + int(digit)) for digit in str(number)) for number in range(10**4, 10**5)
    )[:characters],
    "one long word": lambda characters: "a" * characters,
    "emoji": lambda characters: "😀🎉" * (characters // 2),
    "special characters": lambda characters: ('+-&|!(){}[]^"~*?:\\/ a ' * characters)[:characters],
    "reserved words": lambda characters: ("AND OR NOT TO " * characters)[:characters],
    "single letters": lambda characters: ("a b c d e f g h " * characters)[:characters],
    "mathematical letters": lambda characters: run_of(0x1D400, 80) * (characters // 80),
}


@pytest.mark.parametrize("script", WORDY)
async def test_whatever_the_bounds_allow_can_be_asked(
    admin: httpx.AsyncClient, script: str
) -> None:
    kept = {"memory_type": "semantic", "text": "Sam drinks green tea.", "memory_id": "tea"}
    assert (await admin.post("/api/personas/ada/memories", json=kept)).status_code == 201
    query = WORDY[script](QUERY)

    for profile in ("woven", "published"):
        await ask(admin, "recall", query=query, profile=profile)
    await ask(admin, "context", conversation_id="monday", query=query)


@pytest.mark.parametrize("script", WORDY)
async def test_after_whatever_may_be_said_there_is_a_context(
    admin: httpx.AsyncClient, script: str
) -> None:
    content = WORDY[script](CONTENT)
    await say(admin, content)

    result = await ask(admin, "context", conversation_id="monday", budget=16_000)

    working = [piece for piece in result["pieces"] if piece["layer"] == "working"]
    shown = [piece["content"].strip() for piece in working]
    # Whole, or its first passage, or nothing of it; and the answer says which.
    is_beginning = bool(
        working and working[0]["passage"] and content.strip().startswith(shown[0][:1000])
    )
    assert shown == [content.strip()] or is_beginning or result["left_out"]


async def test_a_wordy_question_still_finds_what_its_rare_words_name(
    admin: httpx.AsyncClient,
) -> None:
    for memory_id, text in (
        ("kiln", "The kiln of Ottoline Vance stands in Kyrgyzstan."),
        ("tea", "Sam drinks green tea every morning."),
    ):
        kept = {"memory_type": "semantic", "text": text, "memory_id": memory_id}
        assert (await admin.post("/api/personas/ada/memories", json=kept)).status_code == 201
    chatter = "so and then we said that it was good to see them again at home "
    query = f"{chatter * 28} Ottoline {chatter * 28}"[:QUERY]

    result = await ask(admin, "recall", query=query, explain=True)

    parts = {hit["id"]: hit["explain"]["signals"]["full_text"] for hit in result["hits"]}
    # The one rare word weighs more than any of the common ones.
    assert parts["kiln"]["signal"] > 0.2 > parts["tea"]["signal"] == 0


async def remember(client: httpx.AsyncClient, memory_id: str, text: str, **more: Any) -> None:
    kept = {"memory_type": "semantic", "text": text, "memory_id": memory_id, **more}
    assert (await client.post("/api/personas/ada/memories", json=kept)).status_code == 201


@pytest.mark.spec("SEARCH-07", "CTX-02")
async def test_what_stands_in_a_context_unasked_is_told_and_was_not_used(
    admin: httpx.AsyncClient, life: Life, settings: Settings
) -> None:
    await remember(admin, "nuts", "Sam is allergic to nuts.", pinned=True)
    await remember(admin, "tea", "Sam drinks green tea.")
    redis = open_broker(settings)

    silent = await ask(admin, "context", conversation_id="monday")
    awake = await ask(admin, "hydrate", seed=3)
    try:
        await ask(admin, "recall", query="green tea", limit=1)  # counted after all the others
        for _ in range(100):
            await count_recorded_uses(life.graph, redis, now=datetime.now(UTC) + timedelta(days=1))
            tea = (await admin.get("/api/memories/tea")).json()
            if tea["access_count"]:
                break
            await asyncio.sleep(0.1)
    finally:
        await redis.aclose()

    assert {"nuts", "tea"} <= {piece["memory_id"] for piece in silent["pieces"]}
    assert "nuts" in {piece["memory_id"] for piece in awake["pieces"]}
    assert tea["access_count"] == 1
    assert (await admin.get("/api/memories/nuts")).json()["access_count"] == 0


@pytest.mark.spec("CTX-04")
@pytest.mark.parametrize("where", ["/api/policy", "/api/personas/ada/policy"])
async def test_the_next_recall_follows_a_policy_that_was_just_changed(
    admin: httpx.AsyncClient, life: Life, where: str
) -> None:
    query = "The hidden vault opens with number forty two."
    (said,) = await life.say(query)
    await remember(admin, "vault", query, source_message_ids=[said])
    await flag_message(life.graph, Templates(), life.caller, said, RULES, now=BORN)
    first = await ask(admin, "recall", query=query)
    assert (first["fallback"], first["hits"][0]["deprioritized"]) == (True, True)

    for figures, fallback in (
        ({"forget_fallback_threshold": 1.0}, False),
        ({"fallback_confidence_factor": 0.1}, True),
    ):
        assert (await admin.put(where, json={"figures": figures})).status_code == 200
        result = await ask(admin, "recall", query=query)
        assert result["fallback"] is fallback

    assert result["hits"][0]["confidence"] == pytest.approx(
        first["hits"][0]["confidence"] / 4, abs=0.001
    )


async def test_ready_is_said_after_the_hot_statements_were_planned(
    stranger: httpx.AsyncClient,
) -> None:
    for _ in range(600):
        warm = (await stranger.get("/api/ready")).json()["checks"]["warm"]
        if warm["ok"]:
            break
        await asyncio.sleep(0.1)

    assert warm["ok"]
    assert f"{len(HOT_STATEMENTS)} statements" in warm["detail"]


async def test_warming_up_plans_every_hot_statement_and_changes_nothing(life: Life) -> None:
    await life.say("The red house burned down.")
    before, warmth = await life.everything(), WarmUpState()
    assert not warmth.check().ok

    await warm_up(life.graph, life.embedder, warmth)

    assert (warmth.planned, warmth.failed) == (list(HOT_STATEMENTS), [])
    assert warmth.check().ok
    assert await life.everything() == before
