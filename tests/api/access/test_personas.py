import asyncio
from typing import Any

import httpx
import pytest

from engine.access.models import Role
from tests.api.conftest import NewCaller

ADA = {"id": "ada", "name": "Ada", "tone": "warm", "time_zone": "Europe/Lisbon", "identity": "Wry."}


async def test_a_persona_is_made_read_and_listed(admin: httpx.AsyncClient) -> None:
    made = await admin.post("/api/personas", json=ADA)

    assert made.status_code == 201
    assert made.json() | ADA == made.json()
    assert (await admin.get("/api/personas/ada")).json() == made.json()
    assert (await admin.get("/api/personas")).json() == {
        "items": [made.json()],
        "next_cursor": None,
    }


async def test_an_id_is_made_up_when_none_is_given(admin: httpx.AsyncClient) -> None:
    first = (await admin.post("/api/personas", json={"name": "Ada"})).json()
    second = (await admin.post("/api/personas", json={"name": "Ada"})).json()

    assert first["id"] < second["id"]
    assert first["tone"] == "plain"
    assert first["time_zone"] == "UTC"


async def test_making_one_twice_is_making_it_once(admin: httpx.AsyncClient) -> None:
    answers = await asyncio.gather(*(admin.post("/api/personas", json=ADA) for _ in range(8)))

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1


async def test_another_persona_with_a_taken_id_is_a_conflict(admin: httpx.AsyncClient) -> None:
    before = (await admin.post("/api/personas", json=ADA)).json()

    refused = await admin.post("/api/personas", json={**ADA, "name": "Eve"})

    assert refused.status_code == 409
    assert (await admin.get("/api/personas/ada")).json() == before


async def test_a_change_touches_what_it_names(admin: httpx.AsyncClient) -> None:
    before = (await admin.post("/api/personas", json=ADA)).json()

    changed = await admin.patch("/api/personas/ada", json={"tone": "formal", "identity": None})

    after = changed.json()
    assert changed.status_code == 200
    assert after["updated_at"] > before["updated_at"]
    assert after | {"updated_at": 0} == before | {
        "tone": "formal",
        "identity": None,
        "updated_at": 0,
    }
    assert (await admin.get("/api/personas/ada")).json() == after
    assert (await admin.patch("/api/personas/ada", json={})).json() == after


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "x" * 201},
        {"name": 7},
        {"name": "Ada", "tone": "angry"},
        {"name": "Ada", "time_zone": "Mars/Olympus"},
        {"name": "Ada", "id": "../../etc"},
        {"name": "Ada", "id": "a" * 129},
        {"name": "Ada", "nmae": "typo"},
        {"name": "Ada", "identity": "x" * 20_001},
        [],
        None,
    ],
    ids=lambda body: str(body)[:40],
)
async def test_bad_input_is_explained_and_changes_nothing(
    admin: httpx.AsyncClient, body: Any
) -> None:
    refused = await admin.post("/api/personas", json=body)

    assert refused.status_code == 400
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["status"] == 400
    assert refused.json()["detail"]
    assert (await admin.get("/api/personas")).json()["items"] == []


async def test_listings_come_in_pages(admin: httpx.AsyncClient) -> None:
    for number in range(5):
        await admin.post("/api/personas", json={"id": f"p{number}", "name": "P"})

    seen: list[str] = []
    cursor = None
    while True:
        query: dict[str, Any] = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        part = (await admin.get("/api/personas", params=query)).json()
        assert len(part["items"]) <= 2
        seen += [item["id"] for item in part["items"]]
        cursor = part["next_cursor"]
        if not cursor:
            break

    assert seen == ["p0", "p1", "p2", "p3", "p4"]
    for bad in ({"limit": 0}, {"limit": 501}, {"limit": "x"}, {"cursor": "%"}):
        assert (await admin.get("/api/personas", params=bad)).status_code == 400


async def test_people_do_not_see_what_a_persona_is_told_about_itself(
    admin: httpx.AsyncClient, new_caller: NewCaller, tenant_id: str
) -> None:
    await admin.post("/api/personas", json=ADA)
    person = await new_caller(tenant_id, Role.USER, "sam")
    runtime = await new_caller(tenant_id, Role.RUNTIME)

    assert (await person.get("/api/personas/ada")).json()["identity"] is None
    assert (await person.get("/api/personas")).json()["items"][0]["identity"] is None
    assert (await runtime.get("/api/personas/ada")).json()["identity"] == "Wry."
