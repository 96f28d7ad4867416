"""Duplicating a persona: the only reset."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest

import api.personas
from engine.access.models import Role
from engine.ids import id_from
from engine.memory import duplicates
from engine.memory.duplicates import duplicate_persona, list_unfinished_copies
from engine.memory.models import LinkType, MemoryState
from engine.models import MemoryType
from engine.night.nights import run_hour, run_night
from engine.service.jobs import Jobs
from tests.api.conftest import NewCaller
from tests.api.forgetting.test_flags import DAY, HOUR, ago, chat, forget, take_back
from tests.lives import Life

__all__ = ["chat"]


@pytest.fixture
async def boss(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    return await new_caller(life.tenant_id)


async def duplicate(boss: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await boss.post("/api/personas/ada/duplicate", json={"id": "eve", **body})
    assert answer.status_code == 201, answer.text
    result: dict[str, Any] = answer.json()
    return result


async def a_life(life: Life) -> list[str]:
    """Some of everything: facts that changed, a feeling, links, a flag, a use, what is archived."""
    said = await life.say(
        "I live in Lisbon.",
        "The red house by the river burned down.",
        "I am so happy about the garden!",
        "The green tree fell on the bridge.",
        at=ago(9 * DAY),
    )
    said += await life.say("I live in Porto.", at=ago(8 * DAY))
    await life.night(ago(6 * DAY))
    return said


async def kept(life: Life, persona_id: str) -> dict[str, dict[str, Any]]:
    """Everything of a persona's memories, by the id it had in the first persona."""
    rows = await life.ask(
        """
        MATCH (:Persona {tenant_id: $t, id: $id})-[:REMEMBERS]->(m:Memory)
        RETURN properties(m) AS memory, labels(m) AS labels,
          COLLECT { MATCH (m)-[:DRAWN_FROM]->(s) RETURN s.id ORDER BY s.id } AS sources,
          COLLECT {
            MATCH (m)-[l]->(o:Memory)
            RETURN [type(l), coalesce(o.copied_from, o.id), properties(l)]
            ORDER BY type(l), coalesce(o.copied_from, o.id)
          } AS links""",
        id=persona_id,
    )
    return {
        row["memory"].get("copied_from", row["memory"]["id"]): {
            **row["memory"],
            "labels": sorted(row["labels"]),
            "sources": row["sources"],
            "links": row["links"],
        }
        for row in rows
    }


# What a copy has of its own.
OWN = {
    "id",
    "persona_id",
    "search_scope",
    "copied_from",
    "copied_at",
    "own_modifier",
    "own_flagged",
}
# What follows from how a memory was used.
USED = {"access_count", "accessed_at", "uses_on", "uses_today", "stirred_at"}
REST = {"idle_since", "idle_importance", "fades_at", "prune_at"}


@pytest.mark.spec("NAV-07")
async def test_a_copy_remembers_the_same_and_knows_nothing_of_its_use(
    life: Life, chat: httpx.AsyncClient, boss: httpx.AsyncClient
) -> None:
    said = await a_life(life)
    memories = await life.memories()
    red, green = (
        next(memory.memory_id for memory in memories if word in memory.text)
        for word in ("red", "green")
    )
    await boss.post(f"/api/memories/{red}/links", json={"to_id": green, "type": LinkType.ENABLES})
    await boss.patch(f"/api/memories/{green}", json={"pinned": True, "importance": 8})
    await life.ask(
        "MATCH (m:Memory {tenant_id: $t, id: $id}) SET m.state = 'archived', m.archived_at = $at",
        id=memories[0].memory_id,
        at=ago(DAY),
    )
    await life.use(red, green, at=ago(2 * HOUR))
    await forget(chat, said[1])
    await life.say("A thing that waits for the night by the sea.", at=ago(HOUR))
    policy = {"types": {"somatic": {"decay_curve": "exponential"}}}
    await boss.put("/api/personas/ada/policy", json=policy)
    before = await kept(life, "ada")

    eve = await duplicate(boss, name="Eve")

    ada = (await boss.get("/api/personas/ada")).json()
    assert eve | {"id": 0, "name": 0, "created_at": 0, "updated_at": 0} == ada | {
        "id": 0,
        "name": 0,
        "created_at": 0,
        "updated_at": 0,
    }
    assert (eve["name"], (await boss.get("/api/personas/eve")).json()) == ("Eve", eve)
    own = (await boss.get("/api/personas/eve/policy")).json()
    assert own == (await boss.get("/api/personas/ada/policy")).json()

    assert await kept(life, "ada") == before
    copies = await kept(life, "eve")
    assert copies.keys() == before.keys()
    assert {copy["state"] for copy in copies.values()} == {"active", "archived"}
    for memory_id, copy in copies.items():
        original = before[memory_id]
        assert copy["id"] == id_from("eve", memory_id)
        assert (copy["persona_id"], len(copy["embedding"])) == ("eve", 384)
        apart = OWN | USED | REST | {"links"}
        assert {k: v for k, v in copy.items() if k not in apart} == {
            k: v for k, v in original.items() if k not in apart
        }
        assert {k: copy.get(k) for k in USED} == {
            "access_count": 0,
            "accessed_at": None,
            "uses_on": None,
            "uses_today": 0,
            "stirred_at": None,
        }
        assert copy["idle_since"] == copy["copied_at"] > original["idle_since"]
        unused = {"coactivations": 0, "coactivated_at": None}
        for link, of in zip(copy["links"], original["links"], strict=True):
            assert link[:2] == of[:2]
            assert {**link[2], **unused} == {**of[2], **unused}
            assert (link[2]["coactivations"], link[2].get("coactivated_at")) == (0, None)
    assert before[red]["access_count"] == 1
    assert any(link[2]["coactivations"] for link in before[red]["links"])
    assert (copies[red]["weight_modifier"], copies[red]["minimized"], copies[red]["flagged"]) == (
        0.2,
        True,
        True,
    )
    assert {link[2]["weight_modifier"] for link in copies[red]["links"]} == {0.2}
    nothing: dict[str, Any] = {"items": [], "next_cursor": None}
    assert (await boss.get("/api/personas/eve/candidates")).json() == nothing
    assert (await boss.get("/api/personas/eve/runs")).json() == nothing
    assert (await boss.get("/api/personas/ada/candidates")).json() != nothing


@pytest.mark.spec("NAV-07")
async def test_copying_twice_is_copying_once(life: Life, boss: httpx.AsyncClient) -> None:
    await a_life(life)
    answers = await asyncio.gather(
        *(boss.post("/api/personas/ada/duplicate", json={"id": "eve"}) for _ in range(4))
    )
    first = (await boss.get("/api/personas/eve")).json()
    before = await life.everything()

    again = await duplicate(boss)
    renamed = await boss.post("/api/personas/ada/duplicate", json={"id": "eve", "name": "Mia"})
    itself = await boss.post("/api/personas/ada/duplicate", json={"id": "ada"})
    nobody = await boss.post("/api/personas/nobody/duplicate", json={"id": "new"})
    of_copy = await boss.post("/api/personas/eve/duplicate", json={})

    assert [answer.json() for answer in answers] == [first] * 4
    assert again == first
    assert [response.status_code for response in (renamed, itself, nobody)] == [409, 409, 404]
    assert of_copy.status_code == 201
    after = await life.everything()
    assert {key: after[key] for key in before} == before


@pytest.mark.spec("NAV-07")
async def test_each_goes_its_own_way_afterwards(
    life: Life, chat: httpx.AsyncClient, boss: httpx.AsyncClient
) -> None:
    said = await a_life(life)
    await forget(chat, said[3])
    await duplicate(boss)
    by_text = {memory.text: memory.memory_id for memory in await life.memories()}
    red, green = (
        next(memory_id for text, memory_id in by_text.items() if word in text)
        for word in ("red", "green")
    )
    eve = await kept(life, "eve")

    await forget(chat, said[1])  # said to ada: eve's memory of it is her own
    await take_back(chat, said[3])
    await life.use(red, green, at=ago(HOUR))
    await life.night(ago(timedelta()))
    assert await kept(life, "eve") == eve
    assert (await life.memory(red)).weight_modifier == 0.2
    assert (await life.memory(green)).weight_modifier == 1.0

    ada = await kept(life, "ada")
    theirs = id_from("eve", red), id_from("eve", green)
    used = await boss.post("/api/personas/eve/coactivate", json={"memory_ids": theirs})
    assert used.json()["counted"]
    await boss.post(
        "/api/conversations", json={"id": "eves", "instance_id": "studio", "persona_ids": ["eve"]}
    )
    message = {
        "message_id": "to-eve",
        "persona_id": "eve",
        "role": "user",
        "content": "ok",
        "timestamp": ago(3 * DAY).isoformat(),
    }
    await boss.post("/api/conversations/eves/messages", json={"messages": [message]})
    # Into what is flagged nothing merges: it is the other that is said again.
    text = next(text for text, memory_id in by_text.items() if memory_id == red)
    candidate = {
        "memory_type": MemoryType.EPISODIC,
        "text": text,
        "content": {"who": "Sam"},
        "source_message_ids": ["to-eve"],
    }
    await boss.post("/api/personas/eve/candidates", json=candidate)
    await life.ask(
        "MATCH (c:Candidate {tenant_id: $t, persona_id: 'eve'}) "
        "MATCH (o:Memory {tenant_id: $t, id: $id}) "
        "SET c.extracted_at = $at, c.embedding = o.embedding",
        id=theirs[0],
        at=ago(3 * DAY),
    )
    night = await run_night(
        life.graph,
        life.tenant_id,
        "eve",
        now=ago(timedelta()),
        started_by="test",
    )
    assert night.stages[0].did == {"formed": 0, "merged": 1}
    weight = (
        "MATCH (m:Memory {tenant_id: $t, id: $id}) RETURN m.weight_modifier AS w, m.flagged AS f"
    )

    async def of_eve(memory_id: str) -> tuple[float, bool]:
        (row,) = await life.ask(weight, id=memory_id)
        return round(row["w"], 6), row["f"]

    assert await of_eve(theirs[1]) == (0.2, True)  # as it was when she was made
    await forget(boss, "to-eve")
    assert await of_eve(theirs[0]) == (0.2, True)
    await take_back(boss, "to-eve")
    assert await of_eve(theirs[0]) == (1.0, False)
    assert await of_eve(theirs[1]) == (0.2, True)
    assert await kept(life, "ada") == ada


async def test_a_copy_fades_as_if_all_of_it_had_been_used_on_its_first_day(
    life: Life, boss: httpx.AsyncClient
) -> None:
    """Also what only an access, which a copy does not have, keeps from being archived."""
    (memory_id,) = await life.remember("red house", at=ago(200 * DAY))
    await life.use(memory_id, at=ago(190 * DAY))
    await life.ask("MATCH (m:Memory {tenant_id: $t}) SET m.importance = 1, m.idle_importance = 1")
    await duplicate(boss)

    async def states(after: timedelta) -> list[str]:
        await run_hour(
            life.graph,
            life.tenant_id,
            "eve",
            now=ago(-after),
            started_by="test",
        )
        return [item["state"] for item in (await kept(life, "eve")).values()]

    assert await states(DAY) == ["active"]
    assert await states(89 * DAY) == ["active"]
    assert await states(92 * DAY) == ["archived"]
    assert [memory.state for memory in await life.memories()] == [MemoryState.ACTIVE]


async def test_until_it_is_whole_nobody_sees_it_and_whoever_comes_next_goes_on(
    life: Life,
    boss: httpx.AsyncClient,
    chat: httpx.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = await a_life(life)
    monkeypatch.setattr(duplicates, "BATCH_SIZE", 2)
    monkeypatch.setattr(api.personas, "DUPLICATE_SECONDS", -1.0)
    sent: list[tuple[str, ...]] = []

    async def send(_: Jobs, *job: str) -> bool:
        sent.append(job)
        return True

    monkeypatch.setattr(Jobs, "send", send)
    body = {"id": "eve"}

    first = await boss.post("/api/personas/ada/duplicate", json=body)

    assert first.status_code == 202
    assert sent == [("tasks.jobs.duplicate", life.tenant_id, "ada", "eve")]
    assert len(await kept(life, "eve")) == 2
    conversation = {"id": "c", "instance_id": "studio", "persona_ids": ["eve"]}
    unseen = [
        await boss.get("/api/personas/eve"),
        await boss.patch("/api/personas/eve", json={"name": "Mine"}),
        await boss.get("/api/personas/eve/memories"),
        await boss.get("/api/personas/eve/policy"),
        await boss.put("/api/personas/eve/policy", json={}),
        await boss.post("/api/conversations", json=conversation),
        await boss.post("/api/personas/eve/duplicate", json={}),
    ]
    assert [response.status_code for response in unseen] == [404] * 7
    assert [item["id"] for item in (await boss.get("/api/personas")).json()["items"]] == ["ada"]
    ada = (await boss.get("/api/personas/ada")).json()
    taken = {name: ada[name] for name in ("name", "tone", "time_zone", "identity")}
    assert (await boss.post("/api/personas", json={"id": "eve", **taken})).status_code == 409
    assert (await boss.post("/api/personas/ada/duplicate", json={"id": "b"})).status_code == 409

    await forget(chat, said[1])  # in the meantime
    # Whoever held it is dead.
    await life.ask("MATCH (p:Persona {tenant_id: $t, id: 'ada'}) REMOVE p.run_until")
    left = await list_unfinished_copies(life.graph, now=ago(timedelta()), limit=1000)
    assert (life.tenant_id, "ada", "eve") in left
    for _ in range(2):
        copy = await duplicate_persona(
            life.graph,
            life.tenant_id,
            "ada",
            copy_id="eve",
            now=ago(timedelta()),
        )
        assert copy.whole
    ada_now, eve_now = await kept(life, "ada"), await kept(life, "eve")
    for memory_id, memory in ada_now.items():
        for name in ("weight_modifier", "flagged", "minimized"):
            assert eve_now[memory_id][name] == memory[name]
        assert [link[2]["weight_modifier"] for link in eve_now[memory_id]["links"]] == [
            link[2]["weight_modifier"] for link in memory["links"]
        ]
    assert (await boss.get("/api/personas/eve")).status_code == 200
    assert (await boss.post("/api/personas/ada/duplicate", json=body)).status_code == 201
    (row,) = await life.ask(
        "MATCH (p:Persona {tenant_id: $t, id: 'eve'}) RETURN p.next_night_at IS NOT NULL AS has"
    )
    assert row["has"]
    assert (await life.night(ago(timedelta()))).state == "done"  # ada can sleep again


async def test_a_persona_is_not_copied_in_the_middle_of_its_night(
    life: Life, boss: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    await life.ask("MATCH (p:Persona {tenant_id: $t}) SET p.open_run = 'a-run'")

    refused = await boss.post("/api/personas/ada/duplicate", json={"id": "eve"})

    assert refused.status_code == 409
    assert (await boss.post("/api/personas", json={"id": "eve", "name": "Eve"})).status_code == 201
    runtime = await new_caller(life.tenant_id, Role.RUNTIME)
    assert (await runtime.post("/api/personas/ada/duplicate", json={})).status_code == 403
