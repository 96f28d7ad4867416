"""Who let whom in, and what was set up: written down by the statement that does it."""

import json
from typing import Any

import httpx
import pytest

from tests.api.conftest import NewCaller


async def records(admin: httpx.AsyncClient) -> list[dict[str, Any]]:
    answer = await admin.get("/api/audit", params={"limit": 500})
    assert answer.status_code == 200
    return [
        {**item, "before": as_value(item["before"]), "after": as_value(item["after"])}
        for item in answer.json()["items"]
    ]


def as_value(text: Any) -> Any:
    return json.loads(text) if isinstance(text, str) and text.startswith("{") else text


@pytest.fixture
async def studio(admin: httpx.AsyncClient) -> httpx.AsyncClient:
    await admin.post("/api/personas", json={"id": "ada", "name": "Ada", "identity": "Broccoli."})
    await admin.post("/api/instances", json={"id": "studio", "name": "Studio"})
    opened = {"id": "monday", "instance_id": "studio", "persona_ids": ["ada"]}
    await admin.post("/api/conversations", json=opened)
    return admin


CHANGES: list[tuple[str, str, Any, str, list[str], Any, Any]] = [
    ("POST", "/api/personas", {"id": "eve", "name": "Eve"}, "persona_added", ["eve"], None, "Eve"),
    (
        "PATCH",
        "/api/personas/ada",
        {"tone": "warm", "identity": "Cabbage."},
        "persona_changed",
        ["ada"],
        "tone: plain, ",
        {"tone": "warm", "identity": "changed"},
    ),
    (
        "POST",
        "/api/personas/ada/duplicate",
        {"id": "ada-2"},
        "persona_duplicated",
        ["ada", "ada-2"],
        None,
        "ada-2",
    ),
    (
        "POST",
        "/api/instances",
        {"id": "attic", "name": "Attic"},
        "instance_added",
        ["attic"],
        None,
        "Attic",
    ),
    (
        "PUT",
        "/api/instances/studio/members/sam",
        {},
        "member_put",
        ["sam", "studio"],
        None,
        "member",
    ),
    (
        "PUT",
        "/api/instances/studio/members/sam",
        {"role": "admin"},
        "member_put",
        ["sam", "studio"],
        "member",
        "admin",
    ),
    (
        "DELETE",
        "/api/instances/studio/members/sam",
        None,
        "member_removed",
        ["sam", "studio"],
        "admin",
        None,
    ),
]


@pytest.mark.spec("SEC-04")
async def test_what_admins_set_up_is_written_down_with_what_was_there_before(
    studio: httpx.AsyncClient,
) -> None:
    key = (await studio.get("/api/keys")).json()["items"][0]["id"]
    known = len(await records(studio))

    for method, path, body, *_ in CHANGES:
        done = await studio.request(method, path, json=body)
        assert done.status_code < 300, done.text

    written = (await records(studio))[known:]
    assert [
        (record["action"], sorted(record["about"]), record["before"], record["after"])
        for record in written
    ] == [(action, about, before, after) for _, _, _, action, about, before, after in CHANGES]
    assert {record["by"] for record in written} == {f"key:{key}"}
    assert "Broccoli" not in str(written)
    assert "Cabbage" not in str(written)


@pytest.mark.spec("SEC-04")
async def test_keys_tokens_policies_and_exports_are_written_down(
    studio: httpx.AsyncClient, tenant_id: str
) -> None:
    known = len(await records(studio))
    figures = {"figures": {"decay_days": 60}}

    issued = (await studio.post("/api/keys", json={"name": "k", "role": "runtime"})).json()
    key = f"/api/keys/{issued['key']['id']}"
    rotated = (await studio.post(f"{key}/rotate", json={"grace_seconds": 60})).json()
    await studio.delete(key)
    token = (await studio.post("/api/tokens", json={"user_id": "sam", "minutes": 5})).json()
    await studio.put("/api/policy", json=figures)
    await studio.put("/api/personas/ada/policy", json=figures)
    await studio.get("/api/conversations/monday/export", headers={"X-User-Id": "nobody"})
    await studio.get("/api/conversations/monday/export", params={"format": "markdown"})

    written = (await records(studio))[known:]
    assert [record["action"] for record in written] == [
        "key_issued",
        "key_rotated",
        "key_revoked",
        "token_issued",
        "tenant_policy_set",
        "persona_policy_set",
        "exported",
    ]
    by_action = {record["action"]: record for record in written}
    for action in ("key_issued", "key_rotated", "key_revoked"):
        assert by_action[action]["about"] == [issued["key"]["id"]]
    assert by_action["token_issued"]["after"]["user_id"] == "sam"
    assert by_action["tenant_policy_set"]["about"] == [tenant_id]
    assert by_action["persona_policy_set"]["after"]["figures"] == {"decay_days": 60}
    assert by_action["exported"]["about"] == ["monday"]
    for text in (issued["api_key"], rotated["api_key"], token["token"]):
        assert text.split("_", 2)[2] not in str(written)


async def test_what_changes_nothing_is_not_written_down(studio: httpx.AsyncClient) -> None:
    await studio.put("/api/instances/studio/members/sam", json={})
    made = (await studio.post("/api/keys", json={"name": "k", "role": "runtime"})).json()
    await studio.delete(f"/api/keys/{made['key']['id']}")
    known = await records(studio)

    await studio.post("/api/personas", json={"id": "ada", "name": "Ada", "identity": "Broccoli."})
    await studio.post("/api/personas", json={"id": "ada", "name": "Eve"})
    await studio.post("/api/instances", json={"id": "studio", "name": "Studio"})
    await studio.put("/api/instances/studio/members/sam", json={})
    await studio.delete("/api/instances/studio/members/mia")
    await studio.delete(f"/api/keys/{made['key']['id']}")
    await studio.patch("/api/personas/absent", json={"tone": "warm"})

    assert await records(studio) == known


async def test_a_refused_revoke_is_not_written_down(
    admin: httpx.AsyncClient, new_caller: NewCaller, tenant_id: str
) -> None:
    (only,) = (await admin.get("/api/keys")).json()["items"]

    refused = await admin.delete(f"/api/keys/{only['id']}")

    assert refused.status_code == 409
    assert "key_revoked" not in [record["action"] for record in await records(admin)]
