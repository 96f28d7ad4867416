"""Memories, their links, the ledger and the policy, as a caller sees them."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from engine.access.models import Role
from engine.models import MemoryType
from engine.policy.policy import Figures, salience_after
from engine.service.clock import MovableClock
from tests.api.conftest import NewCaller
from tests.curves import salience_used
from tests.lives import BORN, FIRST_NIGHT, Life


def without_set_up(audit: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Less what set the life up, and its nights."""
    return [
        event
        for event in audit
        if event["by"] != "operator" and event["action"] not in ("conversation_opened", "night_run")
    ]


@pytest.fixture
async def admin(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    return await new_caller(life.tenant_id)


async def read(client: httpx.AsyncClient, path: str) -> Any:
    answer = await client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_memory_is_read_pinned_and_never_rewritten(
    life: Life, admin: httpx.AsyncClient
) -> None:
    (kept,) = await life.remember("a walk by the river")

    listed = (await admin.get("/api/personas/ada/memories")).json()["items"]
    pinned = await admin.patch(f"/api/memories/{kept}", json={"pinned": True, "importance": 8})
    rewritten = await admin.patch(f"/api/memories/{kept}", json={"text": "something else"})

    assert [(memory["memory_id"], memory["state"], memory["importance"]) for memory in listed] == [
        (kept, "active", 5)
    ]
    assert (pinned.json()["pinned"], pinned.json()["importance"]) == (True, 8)
    assert rewritten.status_code == 400
    assert (await read(admin, f"/api/memories/{kept}")) == pinned.json()
    assert (await admin.patch(f"/api/memories/{kept}", json={"importance": 11})).status_code == 400


async def test_what_a_change_does_not_name_stays_as_it_is(
    life: Life, admin: httpx.AsyncClient
) -> None:
    new = {
        "memory_type": "semantic",
        "text": "Sam is allergic to walnuts.",
        "memory_id": "walnuts",
        "project": "kitchen",
        "tags": ["health"],
        "importance": 8,
        "pinned": True,
    }
    assert (await admin.post("/api/personas/ada/memories", json=new)).status_code == 201
    filed = ("project", "tags", "importance", "pinned")

    async def changed(**changes: object) -> list[object]:
        answer = await admin.patch("/api/memories/walnuts", json=changes)
        assert answer.status_code == 200, answer.text
        return [answer.json()[name] for name in filed]

    assert await changed(importance=9) == ["kitchen", ["health"], 9, True]
    assert await changed(pinned=False) == ["kitchen", ["health"], 9, False]
    assert await changed(tags=[]) == ["kitchen", [], 9, False]
    assert await changed() == ["kitchen", [], 9, False]
    assert await changed(project=None) == [None, [], 9, False]
    assert await changed(project="garden") == ["garden", [], 9, False]


@pytest.mark.spec("CAND-03")
async def test_what_became_a_memory_can_be_neither_edited_nor_removed(
    life: Life, admin: httpx.AsyncClient
) -> None:
    (kept,) = await life.remember("a walk by the river")
    before = await life.everything()

    answers = [
        await admin.patch(f"/api/candidates/{kept}", json={"text": "another walk"}),
        await admin.delete(f"/api/candidates/{kept}"),
    ]

    for answer in answers:
        assert answer.status_code == 409
        assert "minimized instead" in answer.json()["detail"]
        assert answer.json()["instead"] == {"minimize_memory": f"/api/memories/{kept}/minimize"}
    assert await life.everything() == before


@pytest.mark.spec("CONS-02")
async def test_links_of_every_type_are_unique_and_can_be_made_by_hand(
    life: Life, admin: httpx.AsyncClient
) -> None:
    one, two = await life.remember("a walk by the river", "buying new boots")
    types = [
        "RELATED",
        "ENABLES",
        "VALIDATES",
        "CONTRADICTS",
        "EXTENDS",
        "PRECEDES",
        "CAUSALLY_LINKED",
    ]

    for link_type in [*types, *types]:
        made = await admin.post(
            f"/api/memories/{two}/links", json={"to_id": one, "type": link_type}
        )
        assert made.status_code == 201, made.text
        assert made.json()["strength"] == 0.5

    links = (await admin.get(f"/api/memories/{one}/links")).json()
    assert sorted(link["type"] for link in links) == sorted(types)
    assert {(link["from_id"], link["to_id"]) for link in links} == {(two, one)}
    refused = [
        await admin.post(f"/api/memories/{one}/links", json={"to_id": to_id, "type": kind})
        for to_id, kind in ((one, "RELATED"), ("nobody", "RELATED"), (two, "FRIENDS"))
    ]
    assert [response.status_code for response in refused] == [400, 404, 400]


@pytest.mark.spec("CONS-04")
async def test_memories_used_together_are_accessed_and_their_links_grow_at_once(
    life: Life, admin: httpx.AsyncClient
) -> None:
    one, two = await life.remember("a walk by the river", "buying new boots")
    await admin.post(f"/api/memories/{two}/links", json={"to_id": one, "type": "ENABLES"})

    first_use = {"memory_ids": [one, two], "use_id": "turn-1"}
    first = (await admin.post("/api/personas/ada/coactivate", json=first_use)).json()
    again = (await admin.post("/api/personas/ada/coactivate", json=first_use)).json()
    next_turn = (
        await admin.post("/api/personas/ada/coactivate", json={**first_use, "use_id": "turn-2"})
    ).json()

    assert [(use["counted"], use["links"][0]["coactivations"]) for use in (first, again)] == [
        (True, 1),
        (False, 1),
    ]
    assert first["links"][0]["strength"] == pytest.approx(0.55)
    assert next_turn["links"][0]["strength"] == pytest.approx(0.55 + 0.45 * 0.1)
    assert (await life.memory(one)).access_count == 2
    unknown = await admin.post("/api/personas/ada/coactivate", json={"memory_ids": [one, "nobody"]})
    assert unknown.status_code == 404
    assert (await life.memory(one)).access_count == 2


@pytest.mark.spec("CONS-13")
async def test_the_ledger_tells_what_a_night_did_what_it_left_and_why(
    life: Life, admin: httpx.AsyncClient
) -> None:
    await life.say("I live in Lisbon.", "I went for a run along the river today.")
    await life.say("I baked a lemon cake.", at=FIRST_NIGHT - timedelta(hours=3))
    night = await life.night()

    (listed,) = (await admin.get("/api/personas/ada/runs")).json()["items"]
    run = (await admin.get(f"/api/runs/{night.id}")).json()
    changes = (await admin.get(f"/api/runs/{night.id}/changes")).json()["items"]

    assert listed == run
    assert (run["kind"], run["state"], run["started_by"]) == ("night", "done", "test")
    assert [stage["stage"] for stage in run["stages"]] == [
        "integrate",
        "link",
        "distil",
        "strengthen",
        "reschedule",
        "prune",
        "decay",
        "archive",
        "shapes",
        "checkpoints",
    ]
    assert run["stages"][0]["did"] == {"formed": 3, "merged": 0}
    assert run["stages"][0]["could_not"] == {"editable": 1}
    assert all(stage["seconds"] >= 0 for stage in run["stages"])
    formed = [change["change"]["text"] for change in changes if change["kind"] == "formed"]
    assert "Sam lives in Lisbon." in formed
    assert (await admin.get("/api/runs/nothing")).status_code == 404


@pytest.mark.spec("CONS-16")
async def test_every_run_ends_with_a_snapshot_and_they_are_read_as_a_series(
    life: Life, admin: httpx.AsyncClient
) -> None:
    await life.say("I am so happy about my new flat, I love it!!")
    await life.night()
    await life.propose("a quiet afternoon", at=FIRST_NIGHT)
    await life.night(FIRST_NIGHT + timedelta(days=2))

    newest, first = (await admin.get("/api/personas/ada/snapshots")).json()["items"]

    assert first["states"]["active"]["episodic"] == 1
    assert first["states"]["active"]["somatic"] == 1
    assert first["importance"][4] == sum(first["salience"]) == sum(first["importance"])
    assert first["feeling"]["memories"] == 1
    assert first["feeling"]["valence"] > 0.3
    assert newest["states"]["active"]["episodic"] == 2
    assert newest["as_of"] > first["as_of"]


@pytest.mark.spec("CONS-11")
async def test_the_policy_is_read_and_changed_per_tenant_persona_type_and_category(
    life: Life, admin: httpx.AsyncClient
) -> None:
    await admin.put("/api/policy", json={"figures": {"decay_days": 60, "prune_days": 90}})
    changed = await admin.put(
        "/api/personas/ada/policy",
        json={
            "figures": {"decay_days": 45},
            "types": {"somatic": {"decay_curve": "exponential"}},
            "categories": {"plan": {"decay_days": 7}},
        },
    )

    policy = (await admin.get("/api/personas/ada/policy")).json()

    assert changed.json() == policy
    effective = policy["effective"]
    assert effective["figures"]["decay_days"] == 45
    assert effective["figures"]["prune_days"] == 90
    assert effective["types"]["somatic"]["decay_curve"] == "exponential"
    assert effective["types"]["episodic"]["decay_curve"] == "linear"
    assert effective["categories"]["plan"]["semantic"]["decay_days"] == 7
    assert policy["own"]["figures"] == {"decay_days": 45}
    assert (await admin.get("/api/policy")).json()["figures"]["prune_days"] == 90


@pytest.mark.parametrize(
    "wrong",
    [
        {"figures": {"decay_days": 0}},
        {"figures": {"decay_weeks": 1}},
        {"figures": {"merge_threshold": 1.5}},
        {"types": {"somatic": {"decay_curve": "cubic"}}},
        {"types": {"dreams": {}}},
        {"categories": {"plan": {"decay_days": "long"}}},
    ],
)
async def test_a_policy_that_makes_no_sense_is_refused_and_changes_nothing(
    life: Life, admin: httpx.AsyncClient, wrong: object
) -> None:
    before = await read(admin, "/api/personas/ada/policy")

    answers = [
        await admin.put("/api/personas/ada/policy", json=wrong),
        await admin.put("/api/policy", json=wrong),
    ]

    assert [answer.status_code for answer in answers] == [400, 400]
    assert await read(admin, "/api/personas/ada/policy") == before


@pytest.mark.spec("CONS-15")
async def test_what_held_then_can_be_asked_for(life: Life, admin: httpx.AsyncClient) -> None:
    home = {"kind": "fact", "subject": "Sam", "attribute": "home"}
    for days, city in ((0, "Lisbon"), (10, "Porto")):
        at = BORN + timedelta(days=days)
        await life.propose(
            f"Sam lives in {city}.", at=at, memory_type=MemoryType.SEMANTIC, value=city, **home
        )
        await life.night(at + timedelta(days=2))

    async def held(**when: str) -> list[str]:
        answer = await admin.get("/api/personas/ada/memories", params={"type": "semantic", **when})
        return sorted(item["text"] for item in answer.json()["items"])

    assert await held() == ["Sam lives in Lisbon.", "Sam lives in Porto."]
    assert await held(as_of="2026-05-05T00:00:00Z") == ["Sam lives in Lisbon."]
    assert await held(as_of="2026-05-20T00:00:00Z") == ["Sam lives in Porto."]
    assert await held(as_of="2026-04-20T00:00:00Z") == []


async def test_a_memory_is_turned_down_by_hand_beside_a_flag_and_up_again(
    life: Life, admin: httpx.AsyncClient
) -> None:
    (said,) = await life.say("ok")
    kept = await life.propose("Sam is polite.", sources=[said])
    await life.night()

    async def weight(path: str, **body: float) -> float:
        answer = await admin.post(path, json=body)
        assert answer.status_code == 200, answer.text
        return (await life.memory(kept)).weight_modifier

    by_hand = await weight(f"/api/memories/{kept}/minimize", weight_modifier=0.5)
    flagged = await weight(f"/api/messages/{said}/forget")
    restored = await weight(f"/api/memories/{kept}/restore")
    undone = await weight(f"/api/messages/{said}/undo")

    assert [by_hand, flagged, restored, undone] == pytest.approx([0.5, 0.1, 0.2, 1.0])
    story = (await admin.get(f"/api/memories/{kept}/history")).json()
    assert [record["action"] for record in story if not record["run_id"]] == [
        "proposed",
        "minimized",
        "flagged",
        "restored",
        "unflagged",
    ]
    run_actions = [record["action"] for record in story if record["run_id"]]
    assert run_actions == ["formed"]
    written = (await admin.get("/api/audit")).json()["items"]
    audit = without_set_up(written)
    actions = ["proposed", "minimized", "flagged", "restored", "unflagged"]
    assert [record["action"] for record in audit] == actions
    assert (audit[1]["before"], audit[1]["after"]) == ("1.0", "0.5")
    assert {record["by"].split(":")[0] for record in audit} == {"key"}
    messages = (await admin.get(f"/api/messages/{said}/history")).json()
    assert [(message["before"], message["after"]) for message in messages] == [
        (False, True),
        (True, False),
    ]


async def test_a_memory_is_archived_by_hand_and_brought_back_to_stay(
    life: Life, admin: httpx.AsyncClient
) -> None:
    (kept,) = await life.remember("a walk by the river")
    before = await life.memory(kept)

    archived = (await admin.post(f"/api/memories/{kept}/archive")).json()
    again = (await admin.post(f"/api/memories/{kept}/archive")).json()
    listed = (await admin.get("/api/personas/ada/memories")).json()["items"]
    back = (await admin.post(f"/api/memories/{kept}/unarchive")).json()

    assert (archived["state"], archived["archived_at"] is not None) == ("archived", True)
    assert again["archived_at"] == archived["archived_at"]
    assert listed == []
    assert (back["state"], back["archived_at"], back["access_count"]) == ("active", None, 1)
    stored = await life.ask("MATCH (m:Memory {tenant_id: $t}) RETURN m.salience AS salience")
    assert stored[0]["salience"] == before.salience


async def test_many_uses_at_once_are_counted_each_from_what_the_last_has_left(
    life: Life, admin: httpx.AsyncClient, clock: MovableClock
) -> None:
    one, two = await life.remember("a walk by the river", "buying new boots")
    await admin.post(f"/api/memories/{two}/links", json={"to_id": one, "type": "ENABLES"})
    await clock.move(FIRST_NIGHT + timedelta(hours=1))
    uses = 24

    answers = await asyncio.gather(
        *(
            admin.post(
                "/api/personas/ada/coactivate",
                json={"memory_ids": [one, two] if place % 2 else [two, one]},
            )
            for place in range(uses)
        )
    )

    assert {answer.status_code for answer in answers} == {200}
    rows = await life.ask(
        """
        MATCH (memory:Memory {tenant_id: $t})
        RETURN memory.salience AS salience, memory.uses_today AS today,
          memory.access_count AS accesses"""
    )
    figures = Figures()
    salience = salience_after(0.5, 1 / 24, figures)
    for earlier in range(uses):
        salience = salience_used(salience, earlier, figures)
    assert [(row["today"], row["accesses"]) for row in rows] == [(uses, uses)] * 2
    assert [row["salience"] for row in rows] == pytest.approx([salience] * 2)
    links = (await admin.get(f"/api/memories/{one}/links")).json()
    (link,) = [link for link in links if link["type"] == "ENABLES"]
    assert link["coactivations"] == uses
    assert link["strength"] == pytest.approx(1 - 0.5 * 0.9**uses)


async def test_a_history_is_that_of_exactly_this_memory(
    life: Life, admin: httpx.AsyncClient
) -> None:
    for chosen, text in (("m1", "a walk by the river"), ("m10", "buying new boots")):
        await life.propose(text, chosen_id=chosen)
    await life.night()
    await admin.post("/api/memories/m10/links", json={"to_id": "m1", "type": "ENABLES"})
    await life.use("m1", "m10", at=FIRST_NIGHT + timedelta(hours=1))
    await life.night(FIRST_NIGHT + timedelta(hours=24))

    stories = [await read(admin, f"/api/memories/{name}/history") for name in ("m1", "m10")]

    formed = [
        [record["after"]["id"] for record in story if record["action"] == "formed"]
        for story in stories
    ]
    assert formed == [["m1"], ["m10"]]
    assert all("strengthened" in [record["action"] for record in story] for story in stories)
    assert all([record["about"] for record in story if record["run_id"]] for story in stories)


@pytest.mark.spec("SEC-04")
async def test_every_change_of_a_memory_or_candidate_is_written_down_without_what_it_says(
    life: Life, admin: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    new = {"memory_type": "semantic", "text": "Sam is allergic to walnuts."}
    await admin.post("/api/personas/ada/memories", json={**new, "memory_id": "a"})
    await admin.post("/api/personas/ada/memories", json={**new, "memory_id": "b"})
    await admin.post("/api/personas/ada/candidates", json={**new, "candidate_id": "c"})
    again = await admin.post("/api/personas/ada/candidates", json={**new, "candidate_id": "c"})
    await admin.patch("/api/memories/a", json={"pinned": True, "importance": 9})
    await admin.patch("/api/memories/a", json={"tags": ["health"], "project": "kitchen"})
    await admin.patch("/api/memories/a", json={"pinned": True})  # as it is
    await admin.post("/api/memories/a/links", json={"to_id": "b", "type": "ENABLES"})
    await admin.post("/api/memories/a/links", json={"to_id": "b", "type": "ENABLES"})
    await admin.post("/api/memories/a/minimize", json={"weight_modifier": 0.5})
    await admin.post("/api/memories/a/restore")
    await admin.post("/api/memories/a/archive")
    await admin.post("/api/memories/a/unarchive")
    await admin.patch("/api/candidates/c", json={"text": "Walnuts are fine."})
    await admin.delete("/api/candidates/c")
    refused = [
        await admin.patch("/api/memories/nobody", json={"pinned": True}),
        await admin.patch("/api/candidates/c", json={"text": "Walnuts?"}),
        await admin.post("/api/memories/a/links", json={"to_id": "nobody"}),
        await admin.post("/api/candidates/c/restore"),
        await admin.post("/api/personas/ada/candidates", json={**new, "candidate_id": "a"}),
    ]

    written = (await admin.get("/api/audit", params={"limit": 100})).json()["items"]
    audit = without_set_up(written)

    assert again.status_code == 201
    assert [response.status_code for response in refused] == [404, 409, 404, 409, 409]
    assert [
        (record["action"], record["about"], record["before"], record["after"]) for record in audit
    ] == [
        ("remembered", ["a"], None, remembered),
        ("remembered", ["b"], None, remembered),
        ("proposed", ["c"], None, '{"content": 2, "text": 27}'),
        (
            "changed",
            ["a"],
            '{"importance": 5, "pinned": false}',
            '{"importance": 9, "pinned": true}',
        ),
        (
            "changed",
            ["a"],
            '{"project": null, "tags": []}',
            '{"project": "kitchen", "tags": ["health"]}',
        ),
        (
            "linked",
            ["a", "b"],
            None,
            '{"from_id": "a", "strength": 0.5, "to_id": "b", "type": "ENABLES"}',
        ),
        ("minimized", ["a"], "1.0", "0.5"),
        ("restored", ["a"], "0.5", "1.0"),
        ("archived", ["a"], "active", "archived"),
        ("unarchived", ["a"], "archived", "active"),
        ("edited", ["c"], '{"text": 27, "content": 2}', '{"text": 17, "content": 2}'),
        ("removed", ["c"], "pending", "removed"),
    ]
    assert "alnuts" not in json.dumps(audit)
    paged: list[object] = []
    cursor: str | None = None
    while True:
        asked = {"limit": 5} | ({"cursor": cursor} if cursor else {})
        page = (await admin.get("/api/audit", params=asked)).json()
        paged += page["items"]
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert paged == written
    for lines in (
        await admin.get("/api/audit", params={"format": "jsonl"}),
        await admin.get("/api/audit", headers={"Accept": "application/x-ndjson"}),
    ):
        assert lines.headers["content-type"].startswith("application/x-ndjson")
        assert [json.loads(line) for line in lines.text.splitlines()] == written
    for which, wanted in (
        ({"action": "linked"}, 1),
        ({"actor": "nobody"}, 0),
        ({"actor": audit[0]["by"]}, len(audit)),
        ({"from": audit[6]["at"], "actor": audit[0]["by"], "to": "2999-01-01T00:00:00Z"}, 6),
        ({"to": audit[0]["at"], "actor": audit[0]["by"]}, 0),
    ):
        answer = await admin.get("/api/audit", params=which)
        assert len(answer.json()["items"]) == wanted, which
    wrong = [
        await admin.get("/api/audit", params=query)
        for query in ({"cursor": "bm9wZQ"}, {"from": "yesterday"}, {"format": "xml"})
    ]
    assert [response.status_code for response in wrong] == [400, 400, 400]
    runtime = await new_caller(life.tenant_id, Role.RUNTIME)
    assert (await runtime.get("/api/audit")).status_code == 403


remembered = '{"importance": 5, "memory_type": "semantic", "pinned": false}'


async def test_a_story_is_in_the_order_in_which_things_took_effect(
    life: Life, admin: httpx.AsyncClient
) -> None:
    (said,) = await life.say("The red house burned down.")

    await asyncio.gather(
        *(
            admin.post(f"/api/messages/{said}/{'undo' if place % 2 else 'forget'}", json={})
            for place in range(20)
        )
    )

    story = await read(admin, f"/api/messages/{said}/history")
    audit = (await admin.get("/api/audit", params={"limit": 100})).json()["items"]
    actions = [record["action"] for record in story]
    assert actions == ["flagged", "unflagged"] * (len(actions) // 2) + ["flagged"] * (
        len(actions) % 2
    )
    assert [record["action"] for record in without_set_up(audit)] == actions
