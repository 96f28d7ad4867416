"""POST /api/shapes/{id}/relearn: who may, what it answers, what it leaves alone."""

from typing import Any

import httpx
import pytest

from engine.access.models import Role
from engine.ids import new_id
from tests.api.conftest import NewCaller
from tests.graph.memory.test_relearning import AFTER, a_shape
from tests.lives import Life, add_shape


@pytest.fixture
async def admin(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    return await new_caller(life.tenant_id)


def path(shape_id: str, *, preview: bool = False) -> str:
    return f"/api/shapes/{shape_id}/relearn" + ("?preview=true" if preview else "")


@pytest.mark.spec("SHAPE-12")
async def test_a_preview_says_what_relearning_does_and_changes_nothing(
    life: Life, admin: httpx.AsyncClient
) -> None:
    shape_id, lost, _ = await a_shape(life)
    before = await life.everything()

    preview = await admin.post(path(shape_id, preview=True))
    assert await life.everything() == before
    done = await admin.post(path(shape_id))
    again = await admin.post(path(shape_id))

    assert preview.status_code == done.status_code == again.status_code == 200
    assert preview.json() == done.json()
    assert done.json() == {
        "shape_id": shape_id,
        "persona_id": "ada",
        "memory_ids": sorted(lost),
        "withdrawn_shape_ids": [shape_id],
        "counts": {"memories": len(lost), "shapes": 1},
    }
    assert again.json()["counts"] == {"memories": 0, "shapes": 0}
    active = (await admin.get("/api/personas/ada/memories")).json()["items"]
    assert {memory["memory_id"] for memory in active} >= set(lost)


@pytest.mark.spec("SHAPE-12")
async def test_a_shape_that_nothing_is_behind_is_a_conflict(
    life: Life, admin: httpx.AsyncClient
) -> None:
    by_hand = await add_shape(life.graph, life.tenant_id, "ada", "by-hand")
    before = await life.everything()

    for preview in (True, False):
        refused = await admin.post(path(by_hand, preview=preview))
        assert refused.status_code == 409
        assert "relearned" in refused.json()["detail"]
    assert (await admin.post(path("nothing"))).status_code == 404
    assert await life.everything() == before


@pytest.mark.spec("SHAPE-12", "SEC-01")
async def test_only_staff_may_relearn(life: Life, new_caller: NewCaller, new_tenant: Any) -> None:
    shape_id, lost, living = await a_shape(life)
    tenant_id = life.tenant_id
    refused = {
        "analyst": (await new_caller(tenant_id, Role.ANALYST), 403),
        "user": (await new_caller(tenant_id, Role.USER, "sam"), 403),
        "for a user": (await new_caller(tenant_id, Role.RUNTIME, "sam"), 404),
        "another tenant": (await new_caller(await new_tenant()), 404),
    }

    before = await life.everything()
    for who, (client, status) in refused.items():
        for preview in (True, False):
            answer = await client.post(path(shape_id, preview=preview))
            nowhere = await client.post(path(new_id(), preview=preview))
            assert (answer.status_code, nowhere.status_code) == (status, status), who
    memory = (await refused["for a user"][0].post(path(living[0]))).status_code
    assert memory == 404
    assert await life.everything() == before

    runtime = await new_caller(tenant_id, Role.RUNTIME)
    assert (await runtime.post(path(living[0]))).status_code == 404  # a memory, and no shape
    assert (await runtime.post(path(shape_id))).json()["memory_ids"] == sorted(lost)


@pytest.mark.spec("SHAPE-12", "SEC-04")
async def test_relearning_is_audited_and_told_to_devices(
    life: Life, admin: httpx.AsyncClient
) -> None:
    (said,) = await life.say("The garden was full of foxgloves when Ottilie came by.")
    await life.night()
    (lost,) = [memory.memory_id for memory in await life.memories()]
    await admin.post(f"/api/memories/{lost}/archive")
    await life.night(AFTER)
    (shape,) = (await admin.get("/api/personas/ada/memories?type=forgotten_shape")).json()["items"]
    shape_id = shape["memory_id"]

    await admin.post(path(shape_id, preview=True))
    await admin.post(path(shape_id))
    await admin.post(path(shape_id))

    audit = (await admin.get("/api/audit?action=relearned")).json()["items"]
    assert [(it["about"], it["before"], it["after"]) for it in audit] == [
        (sorted([lost, shape_id]), "archived", "active")
    ]
    history = (await admin.get(f"/api/memories/{lost}/history")).json()
    assert [it["action"] for it in history].count("relearned") == 1
    told = await life.ask(
        "MATCH (e:Event {tenant_id: $t, action: 'relearned'}) WHERE e.effect_of IS NOT NULL "
        "RETURN e.conversation_id AS place, e.memory_ids AS ids, e.seen_by AS seen_by"
    )
    assert told == [{"place": "monday", "ids": [lost], "seen_by": ["sam"]}]
    assert said


@pytest.mark.spec("SHAPE-12", "SEARCH-07")
async def test_what_a_shape_stands_for_is_told_by_every_way_that_surfaces_it(
    life: Life, admin: httpx.AsyncClient
) -> None:
    shape_id, lost, _ = await a_shape(life)
    counted = {"query": "the guitar in the garden", "counts": False}

    hits = (await admin.post("/api/personas/ada/recall", json=counted)).json()["hits"]
    waking = (await admin.post("/api/personas/ada/hydrate", json={"seed": 1})).json()["pieces"]
    body = {"conversation_id": "monday", "query": counted["query"], "counts": False}
    context = (await admin.post("/api/personas/ada/context", json=body)).json()["pieces"]

    by_id = {hit["id"]: hit["relearnable"] for hit in hits}
    assert by_id[shape_id] == len(lost)
    assert {by_id[id_] for id_ in by_id if id_ != shape_id} == {0}
    for pieces in (waking, context):
        told = {it["memory_id"]: it["relearnable"] for it in pieces if it["memory_id"] == shape_id}
        assert told == {shape_id: len(lost)}
    shape = (await admin.get(f"/api/memories/{shape_id}")).json()
    assert (shape["access_count"], shape["accessed_at"]) == (0, None)
