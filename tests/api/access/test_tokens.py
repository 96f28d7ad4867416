"""Who is asking: user tokens, and keys that act for a user."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from api.application import Application
from engine.access.keys import KeyRing, issue_key
from engine.access.models import Caller, MemberRole, Role
from engine.access.tokens import issue_token
from engine.errors import Unauthenticated
from engine.store.graph import Graph
from tests.api.conftest import NewCaller, a_client, a_token


@pytest.fixture
async def rooms(admin: httpx.AsyncClient) -> httpx.AsyncClient:
    """Ada in two instances: sam is in both, mia in none."""
    await admin.post("/api/personas", json={"id": "ada", "name": "Ada", "identity": "Secret."})
    for place in ("studio", "attic"):
        await admin.post("/api/instances", json={"id": place, "name": place})
        await admin.put(f"/api/instances/{place}/members/sam", json={})
        opened = {"id": f"in-{place}", "instance_id": place, "persona_ids": ["ada"]}
        await admin.post("/api/conversations", json=opened)
        said = {
            "message_id": f"said-in-{place}",
            "persona_id": "ada",
            "role": "user",
            "content": f"I keep my brushes in the {place}.",
            "timestamp": "2026-05-02T12:00:00Z",
        }
        await admin.post(f"/api/conversations/in-{place}/messages", json={"messages": [said]})
    return admin


async def token_of(admin: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    answer = await admin.post("/api/tokens", json={"user_id": "sam", **fields})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


@pytest.mark.spec("SEC-01")
@pytest.mark.parametrize("role", [Role.RUNTIME, Role.ADMIN])
async def test_a_key_gives_a_person_a_token_that_is_them_for_a_while(
    app: Application, rooms: httpx.AsyncClient, new_caller: NewCaller, tenant_id: str, role: Role
) -> None:
    issuer = await new_caller(tenant_id, role)
    before = datetime.now(UTC)

    issued = await token_of(issuer, minutes=5)

    ends = datetime.fromisoformat(issued["expires_at"])
    assert before + timedelta(minutes=5) <= ends <= datetime.now(UTC) + timedelta(minutes=5)
    assert issued["user_id"] == "sam"
    assert issued["instance_ids"] is None
    async with a_client(app, issued["token"]) as sam:
        seen = (await sam.get("/api/conversations")).json()["items"]
        assert {item["id"] for item in seen} == {"in-studio", "in-attic"}
        assert (await sam.get("/api/keys")).status_code == 403
        assert (await sam.post("/api/tokens", json={"user_id": "sam"})).status_code == 403
        flagged = (await sam.post("/api/messages/said-in-attic/forget")).json()
    assert flagged["records"]["said-in-attic"]["flagged_by"] == "sam"


@pytest.mark.parametrize("minutes", [0, -1, 1441, 1.5, "5"])
async def test_a_token_lasts_from_a_minute_to_a_day(
    admin: httpx.AsyncClient, minutes: object
) -> None:
    refused = await admin.post("/api/tokens", json={"user_id": "sam", "minutes": minutes})

    assert refused.status_code == 400


@pytest.mark.spec("SEC-01")
async def test_a_token_may_not_say_it_is_somebody_else(
    app: Application, rooms: httpx.AsyncClient
) -> None:
    issued = await token_of(rooms)

    async with a_client(app, issued["token"]) as sam:
        same = await sam.get("/api/conversations", headers={"X-User-Id": "sam"})
        other = await sam.get("/api/conversations", headers={"X-User-Id": "mia"})

    assert same.status_code == 200
    assert other.status_code == 403
    assert "leave the header out" in other.json()["detail"]


@pytest.mark.spec("SEC-01")
async def test_a_key_that_acts_for_a_user_sees_and_does_what_that_user_may(
    rooms: httpx.AsyncClient, new_caller: NewCaller, tenant_id: str
) -> None:
    await rooms.delete("/api/instances/attic/members/sam")
    for role in (Role.RUNTIME, Role.ADMIN):
        key = await new_caller(tenant_id, role)
        for_sam, for_mia = {"X-User-Id": "sam"}, {"X-User-Id": "mia"}

        everything = (await key.get("/api/conversations")).json()["items"]
        as_sam = (await key.get("/api/conversations", headers=for_sam)).json()["items"]
        as_mia = (await key.get("/api/conversations", headers=for_mia)).json()["items"]

        assert [item["id"] for item in everything] == ["in-attic", "in-studio"]
        assert [item["id"] for item in as_sam] == ["in-studio"]
        assert as_mia == []
        for path in ("/api/conversations/in-attic", "/api/instances/attic"):
            assert (await key.get(path, headers=for_sam)).status_code == 404
            assert (await key.get(path)).status_code == 200
        refused = await key.post("/api/messages/said-in-attic/forget", headers=for_sam)
        assert refused.status_code == 404
        assert (await key.get("/api/personas/ada", headers=for_sam)).json()["identity"] is None
        assert (await key.get("/api/personas/ada")).json()["identity"] == "Secret."


async def test_nobody_administers_for_a_user(rooms: httpx.AsyncClient) -> None:
    """A user may not, so a key that acts for one may not either."""
    for_sam = {"X-User-Id": "sam"}

    for method, path, body in (
        ("POST", "/api/personas", {"name": "Eve"}),
        ("PUT", "/api/instances/attic/members/mia", {}),
        ("POST", "/api/keys", {"name": "k", "role": "admin"}),
        ("POST", "/api/tokens", {"user_id": "mia"}),
        ("PUT", "/api/policy", {}),
        ("GET", "/api/audit", None),
    ):
        refused = await rooms.request(method, path, json=body, headers=for_sam)
        assert refused.status_code == 403, path
        assert "leave X-User-Id out" in refused.json()["detail"]


@pytest.mark.spec("SEC-01")
async def test_an_analyst_acts_for_nobody(new_caller: NewCaller, tenant_id: str) -> None:
    analyst = await new_caller(tenant_id, Role.ANALYST)

    refused = await analyst.get("/api/personas", headers={"X-User-Id": "sam"})

    assert refused.status_code == 403
    assert "may not act for a user" in refused.json()["detail"]


async def test_who_is_acted_for_has_an_id(admin: httpx.AsyncClient) -> None:
    for name in ("not an id", "", "x" * 129, "-sam"):
        refused = await admin.get("/api/personas", headers={"X-User-Id": name})
        assert refused.status_code == 400


@pytest.mark.spec("SEC-01")
async def test_a_narrowed_token_knows_of_its_instances_only(
    app: Application, rooms: httpx.AsyncClient
) -> None:
    issued = await token_of(rooms, instance_ids=["studio", "studio"])
    assert issued["instance_ids"] == ["studio"]
    ranges = []
    for place in ("attic", "studio"):
        ends = {"first_message_id": f"said-in-{place}", "last_message_id": f"said-in-{place}"}
        flagged = await rooms.post(f"/api/conversations/in-{place}/forget-range", json=ends)
        ranges.append(flagged.json()["range_id"])
        await rooms.post(f"/api/messages/said-in-{place}/undo", json={})

    async with a_client(app, issued["token"]) as sam:
        for path in ("/api/instances", "/api/conversations", "/api/items"):
            answer = await sam.get(path)
            assert answer.status_code == 200
            assert "attic" not in answer.text, path
        for path in (
            "/api/instances/{}",
            "/api/instances/{}/members",
            "/api/conversations/in-{}",
            "/api/conversations/in-{}/messages",
            "/api/conversations/in-{}/checkpoints",
            "/api/conversations/in-{}/export",
        ):
            assert (await sam.get(path.format("studio"))).status_code == 200, path
            assert (await sam.get(path.format("attic"))).status_code == 404, path
        assert (await sam.post("/api/messages/said-in-studio/forget")).status_code == 200
        assert (await sam.post("/api/messages/said-in-attic/forget")).status_code == 404
        opened = {"instance_id": "attic", "persona_ids": ["ada"]}
        assert (await sam.post("/api/conversations", json=opened)).status_code == 404
        seen = [(await sam.get(f"/api/ranges/{id_}")).status_code for id_ in ranges]
        assert seen[0] == 404


async def test_a_token_is_narrowed_to_instances_that_are_there(rooms: httpx.AsyncClient) -> None:
    body = {"user_id": "sam", "instance_ids": ["studio", "cellar"]}

    refused = await rooms.post("/api/tokens", json=body)

    assert refused.status_code == 404
    assert "cellar" in refused.json()["detail"]
    issued = [item["action"] for item in (await rooms.get("/api/audit")).json()["items"]]
    assert "token_issued" not in issued


async def test_narrowing_to_an_instance_one_is_not_in_shows_nothing(
    app: Application, rooms: httpx.AsyncClient
) -> None:
    issued = await token_of(rooms, user_id="mia", instance_ids=["attic"])

    async with a_client(app, issued["token"]) as mia:
        assert (await mia.get("/api/instances")).json()["items"] == []
        assert (await mia.get("/api/conversations/in-attic")).status_code == 404


@pytest.mark.spec("SEC-01")
async def test_a_token_ends_at_its_time_though_it_is_remembered(
    graph: Graph, tenant_id: str
) -> None:
    now = datetime.now(UTC)
    issued = await issue_key(graph, tenant_id, name="k", role=Role.RUNTIME, now=now)
    key = Caller(tenant_id, issued.key.id, Role.RUNTIME)
    ring = KeyRing(graph, seconds=600, clock=lambda: now)
    token = await issue_token(graph, key, user_id="sam", instance_ids=None, minutes=1, now=now)
    assert (await ring.caller(token.token)).user_id == "sam"

    now += timedelta(seconds=60)

    with pytest.raises(Unauthenticated):
        await ring.caller(token.token)
    with pytest.raises(Unauthenticated):
        await KeyRing(graph, seconds=600, clock=lambda: now).caller(token.token)


@pytest.mark.spec("SEC-01")
async def test_revoking_a_key_ends_the_tokens_it_issued(
    app: Application, admin: httpx.AsyncClient, graph: Graph, tenant_id: str
) -> None:
    made = (await admin.post("/api/keys", json={"name": "k", "role": "runtime"})).json()
    async with a_client(app, made["api_key"]) as issuer:
        issued = await token_of(issuer)
    elsewhere_time = 0.0
    elsewhere = KeyRing(graph, seconds=5, timer=lambda: elsewhere_time)
    assert (await elsewhere.caller(issued["token"])).user_id == "sam"
    async with a_client(app, issued["token"]) as sam:
        assert (await sam.get("/api/personas")).status_code == 200

        await admin.delete(f"/api/keys/{made['key']['id']}")

        assert (await sam.get("/api/personas")).status_code == 401
    elsewhere_time = 5.1
    with pytest.raises(Unauthenticated):
        await elsewhere.caller(issued["token"])


async def test_a_token_never_outlives_the_key_that_issued_it(
    app: Application, admin: httpx.AsyncClient
) -> None:
    ends = datetime.now(UTC) + timedelta(minutes=10)
    body = {"name": "k", "role": "runtime", "expires_at": ends.isoformat()}
    made = (await admin.post("/api/keys", json=body)).json()

    async with a_client(app, made["api_key"]) as issuer:
        issued = await token_of(issuer, minutes=60)

    assert datetime.fromisoformat(issued["expires_at"]) == ends


async def test_a_token_is_stored_as_a_hash_and_expired_ones_are_cleared(
    graph: Graph, tenant_id: str
) -> None:
    now = datetime.now(UTC)
    issued = await issue_key(graph, tenant_id, name="k", role=Role.RUNTIME, now=now)
    key = Caller(tenant_id, issued.key.id, Role.RUNTIME)
    old = now - timedelta(days=2)
    for _ in range(3):
        await issue_token(graph, key, user_id="sam", instance_ids=None, minutes=5, now=old)

    fresh = await issue_token(graph, key, user_id="sam", instance_ids=None, minutes=5, now=now)

    async with graph._driver.session() as session:
        query = "MATCH (n {tenant_id: $t}) RETURN labels(n)[0] AS label, properties(n) AS p"
        stored = [record.data() async for record in await session.run(query, t=tenant_id)]
    assert [row["label"] for row in stored].count("UserToken") == 1
    assert fresh.token.split("_", 2)[2] not in str(stored)


@pytest.mark.parametrize(
    "wrong", ["pmu__", "pmu_x_y", "pmu_0123456789abcdef_wrong", "pmt_{id}_{secret}", "pmu_{id}_"]
)
@pytest.mark.spec("SEC-01")
async def test_a_token_that_is_none_is_refused_like_any_other(
    app: Application, graph: Graph, tenant_id: str, wrong: str
) -> None:
    _, token_id, secret = (await a_token(graph, tenant_id, "sam")).split("_", 2)

    async with a_client(app, wrong.format(id=token_id, secret=secret)) as nobody:
        refused = await nobody.get("/api/personas")

    assert refused.status_code == 401
    assert refused.json()["type"] == "urn:pentimento:unauthenticated"


async def test_an_admin_of_an_instance_has_no_more_by_a_token(
    rooms: httpx.AsyncClient, app: Application, graph: Graph, tenant_id: str
) -> None:
    await rooms.put("/api/instances/studio/members/sam", json={"role": MemberRole.ADMIN})

    async with a_client(app, await a_token(graph, tenant_id, "sam")) as sam:
        refused = await sam.put("/api/instances/studio/members/mia", json={})

    assert refused.status_code == 403
    assert refused.json()["detail"] == (
        "A person may not do this: it takes a key with the role 'admin'."
    )
