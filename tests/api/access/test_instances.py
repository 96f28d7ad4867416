import asyncio

import httpx
import pytest

from engine.access.models import Role
from tests.api.conftest import NewCaller

STUDIO = {"id": "studio", "name": "Studio"}


async def test_an_instance_is_made_read_and_listed(admin: httpx.AsyncClient) -> None:
    made = await admin.post("/api/instances", json=STUDIO)
    again = await admin.post("/api/instances", json=STUDIO)

    assert made.status_code == 201
    assert again.json() == made.json()
    assert (await admin.get("/api/instances/studio")).json() == made.json()
    assert (await admin.get("/api/instances")).json()["items"] == [made.json()]
    assert (await admin.post("/api/instances", json={**STUDIO, "name": "Other"})).status_code == 409


async def test_members_come_and_go(admin: httpx.AsyncClient) -> None:
    await admin.post("/api/instances", json=STUDIO)

    joined = await admin.put("/api/instances/studio/members/sam", json={})
    raised = await admin.put("/api/instances/studio/members/sam", json={"role": "admin"})
    await admin.put("/api/instances/studio/members/kim", json={})
    listed = (await admin.get("/api/instances/studio/members")).json()["items"]
    gone = await admin.delete("/api/instances/studio/members/sam")

    assert joined.json()["role"] == "member"
    assert raised.json() == joined.json() | {"role": "admin"}
    assert [member["user_id"] for member in listed] == ["kim", "sam"]
    assert gone.status_code == 204
    assert (await admin.delete("/api/instances/studio/members/sam")).status_code == 404
    assert len((await admin.get("/api/instances/studio/members")).json()["items"]) == 1


async def test_joining_many_times_at_once_is_one_membership(admin: httpx.AsyncClient) -> None:
    await admin.post("/api/instances", json=STUDIO)

    joined = await asyncio.gather(
        *(admin.put("/api/instances/studio/members/sam", json={}) for _ in range(10))
    )

    assert {answer.status_code for answer in joined} == {200}
    assert len((await admin.get("/api/instances/studio/members")).json()["items"]) == 1


async def test_a_user_sees_the_instances_they_are_in_and_no_other(
    admin: httpx.AsyncClient, new_caller: NewCaller, tenant_id: str
) -> None:
    for name in ("attic", "studio"):
        await admin.post("/api/instances", json={"id": name, "name": name})
    await admin.put("/api/instances/studio/members/sam", json={})
    sam = await new_caller(tenant_id, Role.USER, "sam")

    seen = (await sam.get("/api/instances")).json()["items"]
    hidden = await sam.get("/api/instances/attic")
    absent = await sam.get("/api/instances/cellar")

    assert [instance["id"] for instance in seen] == ["studio"]
    assert (await sam.get("/api/instances/studio")).status_code == 200
    assert hidden.status_code == absent.status_code == 404
    assert hidden.json()["detail"].replace("attic", "cellar") == absent.json()["detail"]
    assert (await sam.get("/api/instances/attic/members")).status_code == 404

    await admin.delete("/api/instances/studio/members/sam")
    assert (await sam.get("/api/instances/studio")).status_code == 404


@pytest.mark.parametrize("user_id", ["a b", "é", "x" * 129, "-sam"])
async def test_a_user_id_that_is_none_is_refused(admin: httpx.AsyncClient, user_id: str) -> None:
    await admin.post("/api/instances", json=STUDIO)

    refused = await admin.put(f"/api/instances/studio/members/{user_id}", json={})

    assert refused.status_code == 400
    assert (await admin.get("/api/instances/studio/members")).json()["items"] == []
