"""Nights as a caller sees them: through what is said, flagged and read over HTTP."""

import random
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from engine.memory.facts import as_fact, fact_key, fact_properties, timeline
from engine.models import MemoryType
from tests.lives import BORN, FIRST_NIGHT, Life

DAY = timedelta(days=1)
RUN = "I went for a long run along the wide river this morning"


async def memory(admin: httpx.AsyncClient, memory_id: str) -> dict[str, Any]:
    response = await admin.get(f"/api/memories/{memory_id}")
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def memories(admin: httpx.AsyncClient, **filters: str) -> list[dict[str, Any]]:
    response = await admin.get("/api/personas/ada/memories", params={"limit": 100, **filters})
    assert response.status_code == 200, response.text
    items: list[dict[str, Any]] = response.json()["items"]
    return items


async def post(admin: httpx.AsyncClient, path: str, **body: Any) -> dict[str, Any]:
    done = await admin.post(f"/api/{path}", json=body)
    assert done.status_code in (200, 201), done.text
    answer: dict[str, Any] = done.json()
    return answer


# ── What is said again after it was forgotten ────────────────────────────────────────────────────


@pytest.mark.spec("CONS-01")
@pytest.mark.parametrize(
    ("way", "words"), [("flagged", f"{RUN} again"), ("flagged", RUN), ("archived", f"{RUN} again")]
)
async def test_what_is_said_again_after_it_was_forgotten_is_remembered_anew(
    life: Life, admin: httpx.AsyncClient, way: str, words: str
) -> None:
    (first,) = await life.say(RUN)
    await life.night()
    (old,) = await memories(admin)
    if way == "flagged":
        await post(admin, f"messages/{first}/forget")
    else:
        await post(admin, f"memories/{old['memory_id']}/archive")

    (again,) = await life.say(words, at=BORN + 2 * DAY)
    await life.night(FIRST_NIGHT + 2 * DAY)

    kept = {memory["memory_id"]: memory for memory in await memories(admin)}
    (anew,) = (memory for memory in kept.values() if memory["source_message_ids"] == [again])
    assert (anew["weight_modifier"], anew["reinforcements"]) == (1.0, 0)
    before = await memory(admin, old["memory_id"])
    assert (before["source_message_ids"], before["reinforcements"]) == ([first], 0)


@pytest.mark.spec("CONS-01")
async def test_nothing_merges_into_a_fact_that_is_closed(
    life: Life, admin: httpx.AsyncClient
) -> None:
    await life.say("I live in Lisbon.")
    await life.night()
    await life.say("I live in Porto now.", at=BORN + 2 * DAY)
    await life.night(FIRST_NIGHT + 2 * DAY)
    (closed,) = (memory for memory in await memories(admin, type="semantic") if memory["valid_to"])

    # The same words, as a runtime may tell them, without saying which fact they state.
    await life.propose(
        closed["text"],
        at=BORN + 4 * DAY,
        memory_type=MemoryType.SEMANTIC,
        chosen_id="told",
        subject="Sam",
    )
    await life.night(FIRST_NIGHT + 4 * DAY)

    assert (await memory(admin, "told"))["text"] == closed["text"]
    assert (await memory(admin, closed["memory_id"]))["reinforcements"] == 0


# ── Facts follow from the facts that stand ───────────────────────────────────────────────────────


async def homes(admin: httpx.AsyncClient) -> dict[str, dict[str, Any]]:
    """Where Sam is remembered to live, by the place."""
    facts = [
        memory for memory in await memories(admin, type="semantic") if "value" in memory["content"]
    ]
    return {memory["content"]["value"]: memory for memory in facts}


async def two_homes(life: Life, admin: httpx.AsyncClient) -> tuple[str, str, str]:
    """Lisbon, then Porto: the ids of the two facts, and of the message that said the second."""
    await life.say("I live in Lisbon.")
    await life.night()
    (porto_said,) = await life.say("I live in Porto now.", at=BORN + 2 * DAY)
    await life.night(FIRST_NIGHT + 2 * DAY)
    facts = await homes(admin)
    assert facts["Lisbon"]["valid_to"] == facts["Porto"]["valid_from"]
    return facts["Lisbon"]["memory_id"], facts["Porto"]["memory_id"], porto_said


@pytest.mark.spec("CONS-15")
async def test_a_flagged_newer_fact_leaves_the_older_one_holding_until_it_is_undone(
    life: Life, admin: httpx.AsyncClient
) -> None:
    lisbon, porto, said = await two_homes(life, admin)
    before = await life.everything()
    end = (await memory(admin, lisbon))["valid_to"]

    await post(admin, f"messages/{said}/forget")
    assert (await memory(admin, lisbon))["valid_to"] is None
    held_ids = {
        memory["memory_id"] for memory in await memories(admin, type="semantic", held_at=NOW)
    }
    assert lisbon in held_ids

    await post(admin, f"messages/{said}/undo", source="memory_manager")
    assert (await memory(admin, lisbon))["valid_to"] == end
    after = await life.everything()
    for memory_id in (lisbon, porto):
        node = f"['Memory', 'Semantic'] {memory_id}"
        assert after[node] == before[node]


NOW = "2026-05-20T12:00:00Z"


@pytest.mark.spec("CONS-15")
async def test_an_archived_newer_fact_leaves_the_older_one_holding_until_it_is_back(
    life: Life, admin: httpx.AsyncClient
) -> None:
    lisbon, porto, _ = await two_homes(life, admin)
    end = (await memory(admin, lisbon))["valid_to"]

    await post(admin, f"memories/{porto}/archive")
    assert (await memory(admin, lisbon))["valid_to"] is None

    await post(admin, f"memories/{porto}/unarchive")
    assert (await memory(admin, lisbon))["valid_to"] == end


@pytest.mark.spec("CONS-15")
async def test_between_three_facts_the_middle_one_being_flagged_the_last_closes_the_first(
    life: Life, admin: httpx.AsyncClient
) -> None:
    lisbon, _, said = await two_homes(life, admin)
    await life.say("I live in Faro now.", at=BORN + 4 * DAY)
    await life.night(FIRST_NIGHT + 4 * DAY)
    facts = await homes(admin)

    await post(admin, f"messages/{said}/forget")

    assert (await memory(admin, lisbon))["valid_to"] == facts["Faro"]["valid_from"]


@pytest.mark.spec("CONS-15")
async def test_a_fact_said_while_the_newer_one_is_flagged_closes_what_holds_then(
    life: Life, admin: httpx.AsyncClient
) -> None:
    lisbon, _, said = await two_homes(life, admin)
    await post(admin, f"messages/{said}/forget")

    await life.say("I live in Faro now.", at=BORN + 4 * DAY)
    await life.night(FIRST_NIGHT + 4 * DAY)

    facts = await homes(admin)
    assert facts["Lisbon"]["valid_to"] == facts["Faro"]["valid_from"]
    links = (await admin.get(f"/api/memories/{lisbon}/links")).json()
    linked = {link["from_id"] for link in links if link["type"] == "CONTRADICTS"}
    assert facts["Faro"]["memory_id"] in linked


async def test_until_when_facts_hold_is_the_same_in_the_graph_and_in_values(life: Life) -> None:
    """The statement against the definition: facts of every kind, some of which do not stand."""
    drawn = random.Random(15)
    values = {
        "home": ["Lisbon", "Porto", "Faro"],
        "likes": ["tea", "green tea", "rain"],
        "dislikes": ["tea", "rain"],
        "plan": ["go to Porto", "go to Porto in May", "bake bread"],
    }
    rows: list[dict[str, Any]] = []
    said: dict[str, tuple[dict[str, Any], datetime]] = {}
    standing: set[str] = set()
    for place in range(120):
        attribute = drawn.choice(list(values))
        content = {
            "subject": "Sam",
            "attribute": attribute,
            "value": drawn.choice(values[attribute]),
            "polarity": drawn.random() < 0.7,
        }
        state, flagged = drawn.choice(["active", "active", "archived"]), drawn.random() < 0.2
        id_, at = f"f{place:03}", BORN + drawn.randrange(40) * DAY
        row = {"id": id_, "said_at": at, "state": state, "flagged": flagged}
        rows.append({**row, "fact": fact_key(content), **fact_properties(content)})
        said[id_] = (content, at)
        if state == "active" and not flagged:
            standing.add(id_)
    await life.ask(
        """
        UNWIND $rows AS row
        CREATE (m:Memory {tenant_id: $t, persona_id: 'ada'}) SET m += row""",
        rows=rows,
    )

    await life.graph.write(
        "memory/facts/settle_facts",
        tenant_id=life.tenant_id,
        memory_ids=[row["id"] for row in rows],
    )

    settled = await life.ask(
        "MATCH (m:Memory {tenant_id: $t}) RETURN m.id AS id, m.valid_to AS valid_to"
    )
    ends = {row["id"]: row["valid_to"] for row in settled}
    for row in rows:
        same = [other["id"] for other in rows if other["fact"] == row["fact"]]
        chosen = [id_ for id_ in same if id_ in standing or id_ == row["id"]]
        course = timeline(fact for id_ in chosen if (fact := as_fact(id_, *said[id_])))
        assert ends[row["id"]] == course.ends[str(row["id"])], row


# ── There and back ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.spec("CAND-07", "CONS-15")
@pytest.mark.parametrize("at_once", [True, False], ids=["drawn together", "drawn apart"])
async def test_what_was_said_before_is_news_when_something_else_held_in_between(
    life: Life, admin: httpx.AsyncClient, at_once: bool
) -> None:
    said = ["I live in Lisbon.", "I live in Porto.", "I live in Porto.", "I live in Lisbon."]
    if at_once:
        await life.say(*said)
    else:
        for place, content in enumerate(said):
            await life.say(content, at=BORN + place * DAY / 24)

    gate = (await admin.get("/api/personas/ada/gate")).json()
    await life.night()

    assert gate["left_out"] == {"repeat": 1}  # Porto, said twice in a row
    held = [
        memory for memory in (await memories(admin, type="semantic")) if memory["valid_to"] is None
    ]
    assert [memory["content"]["value"] for memory in held] == ["Lisbon"]
