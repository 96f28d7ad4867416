"""POST /api/shapes/{id}/share: a rumour for another persona of the tenant, and for nobody else."""

from typing import Any

import httpx
import pytest

from engine import bounds
from engine.access.models import Role
from tests.api.conftest import NewCaller
from tests.graph.memory.test_relearning import a_shape
from tests.lives import Life


@pytest.fixture
async def admin(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    client = await new_caller(life.tenant_id)
    made = await client.post("/api/personas", json={"id": "eve", "name": "Eve"})
    assert made.status_code == 201
    return client


@pytest.mark.spec("SHAPE-11")
async def test_another_persona_hears_of_a_shape(life: Life, admin: httpx.AsyncClient) -> None:
    shape_id, _, _ = await a_shape(life)

    told = await admin.post(f"/api/shapes/{shape_id}/share", json={"persona_id": "eve"})
    again = await admin.post(f"/api/shapes/{shape_id}/share", json={"persona_id": "eve"})

    rumour = told.json()
    assert told.status_code == again.status_code == 201
    assert again.json() == rumour
    assert (rumour["persona_id"], rumour["drawn_by"]) == ("eve", "rumour")
    assert (rumour["sources"], rumour["relearnable"]) == (0, 0)
    waking = (await admin.post("/api/personas/eve/hydrate", json={"seed": 1})).json()
    assert [it["content"] for it in waking["pieces"]] == [rumour["text"]]
    asked = {"query": "the garden cake", "counts": False}
    hits = (await admin.post("/api/personas/eve/recall", json=asked)).json()["hits"]
    assert [(hit["id"], hit["memory_type"]) for hit in hits] == [
        (rumour["shape_id"], "forgotten_shape")
    ]
    links = (await admin.get(f"/api/memories/{rumour['shape_id']}/links")).json()
    history = (await admin.get(f"/api/memories/{rumour['shape_id']}/history")).json()
    assert (links, [it["action"] for it in history]) == ([], ["heard"])
    assert shape_id not in str([rumour, waking, hits, history])
    assert "ada" not in str([rumour, waking, hits, history]).lower()
    relearned = await admin.post(f"/api/shapes/{rumour['shape_id']}/relearn")
    assert relearned.status_code == 409


@pytest.mark.spec("SHAPE-11", "SEC-01", "SEC-05")
async def test_nobody_hears_what_is_not_theirs_to_hear(
    life: Life, admin: httpx.AsyncClient, new_caller: NewCaller, new_tenant: Any
) -> None:
    shape_id, _, _ = await a_shape(life)
    other_id = await new_tenant()
    other = await new_caller(other_id)
    await other.post("/api/personas", json={"id": "spy", "name": "Spy"})
    tenant_id, where = life.tenant_id, f"/api/shapes/{shape_id}/share"
    eve = {"persona_id": "eve"}
    analyst = await new_caller(tenant_id, Role.ANALYST)
    user = await new_caller(tenant_id, Role.USER, "sam")
    for_a_user = await new_caller(tenant_id, Role.RUNTIME, "sam")
    before = await life.everything()

    answers = {
        "analyst": await analyst.post(where, json=eve),
        "user": await user.post(where, json=eve),
        "for a user": await for_a_user.post(where, json=eve),
        "another tenant": await other.post(where, json={"persona_id": "spy"}),
        "to another tenant": await admin.post(where, json={"persona_id": "spy"}),
        "to nobody": await admin.post(where, json={"persona_id": "nobody"}),
        "itself": await admin.post(where, json={"persona_id": "ada"}),
        "no shape": await admin.post("/api/shapes/nothing/share", json=eve),
        "no id": await admin.post(where, json={"persona_id": "x" * (bounds.ID + 1)}),
        "nothing": await admin.post(where, json={}),
        "more": await admin.post(where, json={**eve, "content": "everything"}),
    }

    assert {who: answer.status_code for who, answer in answers.items()} == {
        "analyst": 403,
        "user": 403,
        "for a user": 404,
        "another tenant": 404,
        "to another tenant": 404,
        "to nobody": 404,
        "itself": 409,
        "no shape": 404,
        "no id": 400,
        "nothing": 400,
        "more": 400,
    }
    assert await life.everything() == before


@pytest.mark.spec("SHAPE-11")
async def test_a_withdrawn_shape_is_not_shared(life: Life, admin: httpx.AsyncClient) -> None:
    shape_id, _, _ = await a_shape(life)
    await admin.post(f"/api/shapes/{shape_id}/relearn")
    before = await life.everything()

    refused = await admin.post(f"/api/shapes/{shape_id}/share", json={"persona_id": "eve"})

    assert refused.status_code == 409
    assert "withdrawn" in refused.json()["detail"]
    assert await life.everything() == before
