import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from api.application import Application
from engine.access.keys import KeyRing, issue_key, revoke_key
from engine.access.models import Role
from engine.errors import Invalid, Unauthenticated
from engine.store.graph import Graph
from tests.api.conftest import NewCaller, a_client


async def new_key(admin: httpx.AsyncClient, **fields: object) -> dict[str, object]:
    answer = await admin.post("/api/keys", json={"name": "k", "role": "runtime", **fields})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def status_with(app: Application, api_key: object, **headers: str) -> int:
    async with a_client(app, str(api_key)) as client:
        return (await client.get("/api/personas", headers=headers)).status_code


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer nonsense",
        "Bearer pmt_0123456789abcdef_wrong",
        "Bearer pmt__",
        "Basic c2FtOnNlY3JldA==",
        "Bearer " + "x" * 5000,
    ],
)
@pytest.mark.spec("SEC-01")
async def test_without_a_good_key_every_answer_is_the_same_401(
    stranger: httpx.AsyncClient, header: str | None
) -> None:
    refused = await stranger.get(
        "/api/personas", headers={"Authorization": header} if header is not None else {}
    )

    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert refused.json()["type"] == "urn:pentimento:unauthenticated"
    assert "needs a valid API key" in refused.json()["detail"]


async def test_a_good_id_with_a_wrong_secret_is_no_key(
    app: Application, admin: httpx.AsyncClient
) -> None:
    issued = await new_key(admin)
    text = str(issued["api_key"])

    assert await status_with(app, text) == 200
    assert await status_with(app, text[:-1] + ("a" if text[-1] != "a" else "b")) == 401
    assert await status_with(app, text + "a") == 401


async def test_a_keys_text_is_stored_nowhere(graph: Graph, tenant_id: str) -> None:
    issued = await issue_key(graph, tenant_id, name="k", role=Role.ADMIN, now=datetime.now(UTC))
    secret = issued.api_key.split("_", 2)[2]

    async with graph._driver.session() as session:
        result = await session.run(
            "MATCH (n {tenant_id: $t}) RETURN properties(n) AS p", t=tenant_id
        )
        stored = str([record["p"] async for record in result])

    assert issued.key.id in stored
    assert secret not in stored


async def test_keys_are_listed_without_their_text(admin: httpx.AsyncClient) -> None:
    issued = await new_key(admin, role="analyst")

    listed = (await admin.get("/api/keys")).json()["items"]

    assert issued["key"] in listed
    assert str(issued["api_key"]) not in str(listed)
    assert {tuple(sorted(key)) for key in listed} == {
        ("created_at", "expires_at", "id", "name", "revoked_at", "role")
    }


@pytest.mark.spec("SEC-01")
async def test_a_revoked_key_is_refused_at_once(app: Application, admin: httpx.AsyncClient) -> None:
    issued = await new_key(admin)
    key_id = issued["key"]["id"]  # type: ignore[index]
    assert await status_with(app, issued["api_key"]) == 200

    revoked = await admin.delete(f"/api/keys/{key_id}")

    assert revoked.status_code == 204
    assert await status_with(app, issued["api_key"]) == 401
    assert (await admin.delete(f"/api/keys/{key_id}")).status_code == 204
    assert (await admin.post(f"/api/keys/{key_id}/rotate", json={})).status_code == 404


async def test_rotating_gives_a_new_text_and_ends_the_old(
    app: Application, admin: httpx.AsyncClient
) -> None:
    issued = await new_key(admin)
    assert await status_with(app, issued["api_key"]) == 200

    rotated = await admin.post(f"/api/keys/{issued['key']['id']}/rotate", json={})  # type: ignore[index]

    assert rotated.json()["key"] == issued["key"]
    assert await status_with(app, rotated.json()["api_key"]) == 200
    assert await status_with(app, issued["api_key"]) == 401


async def test_in_the_grace_period_both_texts_are_good(
    app: Application, admin: httpx.AsyncClient
) -> None:
    issued = await new_key(admin)
    path = f"/api/keys/{issued['key']['id']}/rotate"  # type: ignore[index]

    rotated = (await admin.post(path, json={"grace_seconds": 3600})).json()
    assert await status_with(app, issued["api_key"]) == 200
    assert await status_with(app, rotated["api_key"]) == 200

    again = (await admin.post(path, json={"grace_seconds": 3600})).json()
    assert await status_with(app, issued["api_key"]) == 401
    assert await status_with(app, rotated["api_key"]) == 200
    assert await status_with(app, again["api_key"]) == 200


async def test_a_key_ends_when_it_expires(app: Application, admin: httpx.AsyncClient) -> None:
    past, future = (datetime.now(UTC) + timedelta(hours=h) for h in (-1, 1))

    assert await status_with(app, (await new_key(admin, expires_at=str(past)))["api_key"]) == 401
    assert await status_with(app, (await new_key(admin, expires_at=str(future)))["api_key"]) == 200


async def test_the_last_admin_key_stays(graph: Graph, tenant_id: str) -> None:
    """Also when two admins revoke each other's key at the same moment."""
    now = datetime.now(UTC)
    keys = [
        (await issue_key(graph, tenant_id, name="k", role=Role.ADMIN, now=now)).key
        for _ in range(4)
    ]
    expired = now - timedelta(days=1)
    await issue_key(graph, tenant_id, name="k", role=Role.ADMIN, now=now, expires_at=expired)

    ends = await asyncio.gather(
        *(revoke_key(graph, tenant_id, key.id, now=now) for key in keys), return_exceptions=True
    )

    refused = [end for end in ends if end is not None]
    assert [type(end).__name__ for end in refused] == ["LastAdminKey"]


async def test_another_process_notices_a_revoke_after_a_few_seconds(
    graph: Graph, tenant_id: str
) -> None:
    now = datetime.now(UTC)
    issued = await issue_key(graph, tenant_id, name="k", role=Role.RUNTIME, now=now)
    time = 0.0
    elsewhere = KeyRing(graph, seconds=5, timer=lambda: time)
    assert (await elsewhere.caller(issued.api_key)).tenant_id == tenant_id
    await revoke_key(graph, tenant_id, issued.key.id, now=now)

    time = 4.9
    assert (await elsewhere.caller(issued.api_key)).key_id == issued.key.id
    time = 5.1
    with pytest.raises(Unauthenticated):
        await elsewhere.caller(issued.api_key)


WRITERS = {Role.RUNTIME, Role.USER, Role.ADMIN}
GUARDED: list[tuple[str, str, Any, set[Role]]] = [
    ("POST", "/api/personas", {"name": "P"}, {Role.ADMIN}),
    ("GET", "/api/personas", None, set(Role)),
    ("PATCH", "/api/personas/p", {"tone": "warm"}, {Role.ADMIN}),
    ("POST", "/api/personas/p/duplicate", {}, {Role.ADMIN}),
    ("POST", "/api/instances", {"name": "I"}, {Role.ADMIN}),
    ("GET", "/api/instances", None, set(Role)),
    ("PUT", "/api/instances/i/members/u", {}, {Role.ADMIN}),
    ("DELETE", "/api/instances/i/members/u", None, {Role.ADMIN}),
    ("POST", "/api/keys", {"name": "k", "role": "analyst"}, {Role.ADMIN}),
    ("GET", "/api/keys", None, {Role.ADMIN}),
    ("POST", "/api/keys/k/rotate", {}, {Role.ADMIN}),
    ("DELETE", "/api/keys/k", None, {Role.ADMIN}),
    ("POST", "/api/tokens", {"user_id": "sam"}, {Role.RUNTIME, Role.ADMIN}),
    ("GET", "/api/identity-provider", None, {Role.ADMIN}),
    ("PUT", "/api/identity-provider", {}, {Role.ADMIN}),
    ("DELETE", "/api/identity-provider", None, {Role.ADMIN}),
    ("POST", "/api/conversations", {"instance_id": "i", "persona_ids": ["p"]}, WRITERS),
    ("GET", "/api/conversations", None, set(Role)),
    ("POST", "/api/conversations/c/messages", {"messages": []}, WRITERS),
    ("GET", "/api/conversations/c/messages", None, set(Role)),
    ("GET", "/api/conversations/c/checkpoints", None, set(Role)),
    ("POST", "/api/personas/p/candidates", {}, {Role.RUNTIME, Role.ADMIN}),
    ("GET", "/api/personas/p/candidates", None, set(Role)),
    ("GET", "/api/personas/p/gate", None, set(Role) - {Role.USER}),
    ("PATCH", "/api/candidates/c", {}, WRITERS),
    ("DELETE", "/api/candidates/c", None, WRITERS),
    ("POST", "/api/messages/m/forget", None, WRITERS),
    ("POST", "/api/conversations/c/forget-range", {}, WRITERS),
    ("POST", "/api/conversations/c/split", {}, WRITERS),
    ("GET", "/api/conversations/c/export", None, set(Role)),
    ("POST", "/api/messages/m/undo", {}, WRITERS),
    ("GET", "/api/ranges/r", None, set(Role)),
    ("GET", "/api/conversations/c/events", None, set(Role)),
    ("POST", "/api/ranges/r/undo", {}, WRITERS),
    ("POST", "/api/candidates/c/restore", None, WRITERS),
    ("GET", "/api/personas/p/memories", None, set(Role)),
    ("GET", "/api/memories/m", None, set(Role)),
    ("PATCH", "/api/memories/m", {}, WRITERS),
    ("GET", "/api/memories/m/links", None, set(Role)),
    ("POST", "/api/memories/m/minimize", {}, WRITERS),
    ("POST", "/api/memories/m/restore", None, WRITERS),
    ("POST", "/api/memories/m/archive", None, {Role.RUNTIME, Role.ADMIN}),
    ("POST", "/api/memories/m/unarchive", None, {Role.RUNTIME, Role.ADMIN}),
    ("GET", "/api/memories/m/history", None, set(Role)),
    ("GET", "/api/messages/m/history", None, set(Role)),
    ("GET", "/api/audit", None, {Role.ANALYST, Role.ADMIN}),
    ("GET", "/api/items", None, set(Role)),
    ("GET", "/api/items/counts", None, set(Role)),
    ("POST", "/api/personas/p/memories", {}, {Role.RUNTIME, Role.ADMIN}),
    ("POST", "/api/personas/p/recall", {}, set(Role) - {Role.USER}),
    ("POST", "/api/personas/p/context", {}, {Role.RUNTIME, Role.ADMIN}),
    ("POST", "/api/personas/p/hydrate", {}, {Role.RUNTIME, Role.ADMIN}),
    ("POST", "/api/memories/m/links", {}, {Role.RUNTIME, Role.ADMIN}),
    ("POST", "/api/personas/p/coactivate", {}, {Role.RUNTIME, Role.ADMIN}),
    ("GET", "/api/personas/p/runs", None, set(Role) - {Role.USER}),
    ("GET", "/api/personas/p/snapshots", None, set(Role) - {Role.USER}),
    ("GET", "/api/runs/r", None, set(Role) - {Role.USER}),
    ("GET", "/api/runs/r/changes", None, set(Role) - {Role.USER}),
    ("GET", "/api/policy", None, set(Role) - {Role.USER}),
    ("PUT", "/api/policy", {}, {Role.ADMIN}),
    ("GET", "/api/personas/p/policy", None, set(Role) - {Role.USER}),
    ("PUT", "/api/personas/p/policy", {}, {Role.ADMIN}),
    ("GET", "/api/clock", None, set(Role)),
    ("PUT", "/api/clock", {"now": None}, {Role.ADMIN}),
]


@pytest.mark.parametrize("role", Role)
@pytest.mark.spec("SEC-01")
async def test_each_role_may_do_what_it_may(
    new_caller: NewCaller, tenant_id: str, role: Role
) -> None:
    caller = await new_caller(tenant_id, role)

    for method, path, body, allowed in GUARDED:
        answer = await caller.request(method, path, json=body)
        assert (answer.status_code != 403) == (role in allowed), (method, path, answer.text)


async def test_no_key_has_the_role_of_a_person(
    admin: httpx.AsyncClient, graph: Graph, tenant_id: str
) -> None:
    refused = await admin.post("/api/keys", json={"name": "k", "role": "user"})

    assert refused.status_code == 400
    assert [key["role"] for key in (await admin.get("/api/keys")).json()["items"]] == ["admin"]
    with pytest.raises(Invalid):
        await issue_key(graph, tenant_id, name="k", role=Role.USER, now=datetime.now(UTC))


async def test_a_person_s_key_of_an_older_version_is_no_key(
    app: Application, graph: Graph, tenant_id: str
) -> None:
    issued = await issue_key(graph, tenant_id, name="k", role=Role.RUNTIME, now=datetime.now(UTC))
    async with graph._driver.session() as session:
        old = "MATCH (key:ApiKey {id: $id}) SET key.role = 'user'"
        await (await session.run(old, id=issued.key.id)).consume()

    assert await status_with(app, issued.api_key) == 401
    assert await status_with(app, issued.api_key, **{"X-User-Id": "sam"}) == 401
