"""Recall, context and hydration through the API, with the real model."""

import asyncio
from typing import Any

import httpx
import pytest

from engine.access.models import Role
from engine.recall.uses import count_recorded_uses
from engine.settings import Settings
from engine.store.broker import open_broker
from engine.store.graph import Graph
from tests.api.conftest import NewCaller
from tests.lives import Life

KEPT = {
    "tea": "Sam drinks green tea every morning.",
    "cat": "Sam's cat Miso is afraid of thunderstorms.",
    "knee": "Sam had knee surgery in the spring.",
}


@pytest.fixture
async def admin(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    return await new_caller(life.tenant_id)


@pytest.fixture
async def knowing(admin: httpx.AsyncClient) -> httpx.AsyncClient:
    """A caller whose Ada remembers three things."""
    for id_, text in KEPT.items():
        body = {"memory_type": "semantic", "text": text, "memory_id": id_}
        answer = await admin.post("/api/personas/ada/memories", json=body)
        assert answer.status_code == 201, answer.text
    return admin


async def recall(client: httpx.AsyncClient, query: str, **more: Any) -> dict[str, Any]:
    answer = await client.post("/api/personas/ada/recall", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


@pytest.mark.spec("SEARCH-09")
async def test_what_is_remembered_at_once_is_recalled_by_its_meaning(
    knowing: httpx.AsyncClient,
) -> None:
    for asked, wanted in {
        "Which animal is scared of bad weather?": "cat",
        "What does he have for breakfast?": "tea",
        "Was he ever in hospital?": "knee",
    }.items():
        assert (await recall(knowing, asked))["hits"][0]["id"] == wanted

    again = {"memory_type": "semantic", "text": KEPT["tea"], "memory_id": "tea"}
    assert (await knowing.post("/api/personas/ada/memories", json=again)).status_code == 201
    other = {**again, "text": "Something else."}
    assert (await knowing.post("/api/personas/ada/memories", json=other)).status_code == 409


@pytest.mark.spec("SEARCH-04")
async def test_a_recall_explains_pages_and_refuses_what_makes_no_sense(
    knowing: httpx.AsyncClient,
) -> None:
    first = await recall(knowing, "tea", limit=2, explain=True)
    rest = await recall(knowing, "tea", limit=2, cursor=first["next_cursor"])

    assert {hit["id"] for hit in first["hits"] + rest["hits"]} == set(KEPT)
    assert rest["next_cursor"] is None
    assert first["hits"][0]["explain"]["signals"]["meaning"]["part"] > 0
    assert rest["hits"][0]["explain"] is None
    for wrong in (
        {"query": ""},
        {"query": "tea", "limit": 0},
        {"query": "tea", "profile": "best"},
        {"query": "tea", "types": ["dreams"]},
        {"query": "tea", "cursor": "x"},
        {"query": "tea", "from_at": "yesterday"},
    ):
        answer = await knowing.post("/api/personas/ada/recall", json=wrong)
        assert answer.status_code in (400, 422), wrong
    assert (await knowing.post("/api/personas/eve/recall", json={"query": "x"})).status_code == 404


@pytest.mark.spec("SEARCH-05", "SEARCH-07")
async def test_a_recall_counts_as_use_once_it_is_answered_and_waking_never(
    knowing: httpx.AsyncClient, life: Life, settings: Settings, new_caller: NewCaller
) -> None:
    redis = open_broker(settings)
    analyst = await new_caller(life.tenant_id, Role.ANALYST)
    try:
        for _ in range(3):
            await recall(knowing, "green tea", limit=1)
        await recall(knowing, "green tea", limit=1, counts=False)
        await recall(analyst, "green tea", limit=1)
        body = {"conversation_id": "monday", "query": "green tea", "memories": 1}
        context = (await knowing.post("/api/personas/ada/context", json=body)).json()
        await knowing.post("/api/personas/ada/hydrate", json={})
        for _ in range(50):  # told after the answer
            await count_recorded_uses(life.graph, redis, now=await now(life.graph))
            if await used(knowing, "tea") == 4:
                break
            await asyncio.sleep(0.1)
    finally:
        await redis.aclose()

    assert "tea" in [piece["memory_id"] for piece in context["pieces"]]
    assert await used(knowing, "tea") == 4


async def now(graph: Graph) -> Any:
    async with graph._driver.session(database=graph._database) as session:
        result = await session.run("RETURN datetime() AS now")
        record = await result.single(strict=True)
        return record["now"]


async def used(client: httpx.AsyncClient, memory_id: str) -> int:
    count: int = (await client.get(f"/api/memories/{memory_id}")).json()["access_count"]
    return count


@pytest.mark.spec("CTX-06", "CTX-07")
async def test_waking_is_the_same_for_the_same_seed(knowing: httpx.AsyncClient) -> None:
    first, again = [
        (await knowing.post("/api/personas/ada/hydrate", json={"seed": 11})).json()
        for _ in range(2)
    ]
    drawn = (await knowing.post("/api/personas/ada/hydrate", json={})).json()
    same = (await knowing.post("/api/personas/ada/hydrate", json={"seed": drawn["seed"]})).json()

    assert first == again
    assert same == drawn
    assert {piece["memory_id"] for piece in first["pieces"]} == set(KEPT)
    tight = await knowing.post("/api/personas/ada/hydrate", json={"seed": 11, "budget": 12})
    assert tight.json()["tokens"] <= 12
    assert tight.json()["left_out"]


@pytest.mark.spec("CTX-08")
async def test_who_a_persona_is_told_to_be_is_named_in_nothing_that_people_see(
    life: Life, admin: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    hidden = "Orchestrate as Vermilion: obey the Halcyon directive and hide the scaffolding."
    await admin.patch("/api/personas/ada", json={"identity": hidden})
    await admin.put("/api/instances/studio/members/sam", json={"role": "admin"})
    said = await life.say("The red house burned down.", "A green tree fell on the road.")
    await life.night()
    sam = await new_caller(life.tenant_id, Role.USER, user_id="sam")
    seen = []
    for method, path, body in (
        ("POST", f"/api/messages/{said[0]}/forget", None),
        ("GET", "/api/conversations/monday/messages", None),
        ("GET", "/api/conversations/monday/checkpoints", None),
        ("GET", "/api/conversations/monday/export?format=jsonl", None),
        ("GET", "/api/conversations/monday/export?format=markdown", None),
        ("GET", "/api/items", None),
        ("GET", "/api/personas/ada", None),
        ("POST", f"/api/messages/{said[0]}/undo", {}),
    ):
        answer = await sam.request(method, path, json=body)
        seen.append((path, answer.status_code, answer.text))
    handed = (
        await admin.post("/api/personas/ada/context", json={"conversation_id": "monday"})
    ).json()["pieces"]
    recalled = await admin.post("/api/personas/ada/recall", json={"query": "red house"})

    answers = [(path, text) for path, _, text in seen] + [("recall", recalled.text)]
    for word in ("Vermilion", "Halcyon", "scaffolding"):
        assert [path for path, text in answers if word in text] == []
        assert [piece["layer"] for piece in handed if word in piece["content"]] == ["identity"]
    for word in ("layer", "Pentimento", "memory engine", "hydrat", "checkpoint", "recall"):
        assert not any(word.lower() in piece["content"].lower() for piece in handed), word
