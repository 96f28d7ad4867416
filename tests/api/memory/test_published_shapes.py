"""The published contract of forgotten shapes: names, casing and types of every field, replayed.

What is published and can be read is the envelope of answers and errors; the fields of a shape and
of its memory follow from the requirements. `docs/decisions.md` says which is which.
"""

import re
from typing import Any
from uuid import UUID

import httpx
import pytest

from engine.access.models import Role
from engine.ids import LARGEST_NUMBER
from engine.night.undo import undo_run
from tests.api.conftest import NewCaller
from tests.api.dumps import dump
from tests.api.memory.test_shapes import drawn_shape
from tests.lives import Life

SHAPES = "/api/identities/ada/shapes"
MEMORIES = "/api/identities/ada/memories"
GIVEN = {
    "connectedThemes": "boats, a harbour",
    "feltAbsence": "Somebody used to wave from the quay.",
    "emotionalResidue": 0.6,
    "temporalMarker": "in some summer",
    "senseOfLoss": "it mattered",
}
# As the publisher shows them, field by field in its order.
ANSWER = {
    "ok": True,
    "requestId": "550e8400-e29b-41d4-a716-446655440000",
    "data": {},
    "count": 42,
    "error": None,
    "errorCode": None,
    "hint": None,
}
REFUSAL = {
    "ok": False,
    "requestId": "550e8400-e29b-41d4-a716-446655440001",
    "data": None,
    "error": "Identity not found: 99",
    "errorCode": "NOT_FOUND",
    "hint": "Check identity ID or use identity_list to find valid IDs",
}
SHAPE = {
    "id": 7,
    "guid": "550e8400-e29b-41d4-a716-446655440000",
    "identityId": 1,
    "memoryId": 7,
    **GIVEN,
    "decayedAt": "2026-03-05T20:00:00Z",
    "createdAtUtc": "2026-03-05T20:00:00Z",
}
MEMORY = {
    "id": 7,
    "guid": "550e8400-e29b-41d4-a716-446655440000",
    "identityId": 1,
    "title": "Forgotten Shape -- 2026-03-05",
    "content": "You once knew something about boats.",
    "memoryType": "ForgottenShape",
    "importance": 3,
    "isArchived": False,
    "accessCount": 0,
    "createdAtUtc": "2026-03-05T20:00:00Z",
}
GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def kinds(value: Any) -> Any:
    """Names in their order, each with the type of its value, times and GUIDs among them."""
    if isinstance(value, dict):
        return [(name, kinds(inner)) for name, inner in value.items()]
    if isinstance(value, str) and TIME.fullmatch(value):
        return "time"
    if isinstance(value, str) and GUID.fullmatch(value):
        return "guid"
    return type(value).__name__


@pytest.fixture
async def admin(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    """An admin; identity 1 is there too, since the publisher's have numbers."""
    client = await new_caller(life.tenant_id)
    await client.post("/api/personas", json={"id": "1", "name": "One"})
    return client


async def data_of(client: httpx.AsyncClient, path: str, **params: Any) -> list[dict[str, Any]]:
    answer = await client.get(path, params=params)
    assert answer.status_code == 200, answer.text
    envelope = answer.json()
    assert list(envelope) == list(ANSWER)
    assert {**envelope, "requestId": "", "data": [], "count": 0} == {
        **ANSWER,
        "requestId": "",
        "data": [],
        "count": 0,
    }
    assert envelope["requestId"] == answer.headers["X-Request-Id"]
    assert envelope["count"] == len(envelope["data"])
    data: list[dict[str, Any]] = envelope["data"]
    return data


@pytest.mark.spec("SHAPE-09")
async def test_a_shape_is_added_and_listed_with_the_published_names(
    admin: httpx.AsyncClient,
) -> None:
    added = await admin.post("/api/identities/1/shapes", json=GIVEN)
    (shape,) = await data_of(admin, "/api/identities/1/shapes")
    (memory,) = await data_of(admin, "/api/identities/1/memories", type="ForgottenShape")

    assert added.status_code == 201
    envelope = added.json()
    assert list(envelope) == list(ANSWER)
    assert (envelope["ok"], envelope["count"], envelope["data"]) == (True, 1, shape)
    assert kinds(shape) == kinds(SHAPE)
    assert {name: shape[name] for name in GIVEN} == GIVEN
    assert kinds(memory) == kinds(MEMORY)
    assert (memory["memoryType"], memory["importance"]) == ("ForgottenShape", 3)
    assert re.fullmatch(r"Forgotten Shape -- \d{4}-\d\d-\d\d", memory["title"])
    assert shape["memoryId"] == memory["id"]
    assert shape["guid"] == memory["guid"]
    assert shape["identityId"] == memory["identityId"] == 1


@pytest.mark.spec("SHAPE-09")
async def test_a_refusal_has_the_published_fields_beside_those_of_a_problem(
    admin: httpx.AsyncClient, new_caller: NewCaller, life: Life
) -> None:
    analyst = await new_caller(life.tenant_id, Role.ANALYST)
    guid = "5d8a6c1e-2b7f-4a93-8e40-97c3d1f0b6a2"
    await admin.post(SHAPES, json={**GIVEN, "guid": guid})
    before = await dump(life.graph, life.tenant_id)

    refused = {
        "NOT_FOUND": await admin.get("/api/identities/99/shapes"),
        "BAD_REQUEST": await admin.post(SHAPES, json={**GIVEN, "temporalMarker": "x" * 101}),
        "CONFLICT": await admin.post(SHAPES, json={**GIVEN, "guid": guid, "feltAbsence": "x"}),
        "FORBIDDEN": await analyst.post(SHAPES, json=GIVEN),
    }

    for code, answer in refused.items():
        body = answer.json()
        assert {name: type(body[name]) for name in REFUSAL if name != "hint"} == {
            name: type(value) for name, value in REFUSAL.items() if name != "hint"
        }
        assert (body["ok"], body["errorCode"], body["hint"]) == (False, code, None)
        assert body["error"] == body["detail"]
        assert body["requestId"] == body["request_id"] == answer.headers["X-Request-Id"]
        assert answer.headers["content-type"].startswith("application/problem+json")
    assert [answer.status_code for answer in refused.values()] == [404, 400, 409, 403]
    assert await dump(life.graph, life.tenant_id) == before


@pytest.mark.spec("SHAPE-09")
async def test_a_drawn_shape_keeps_its_number_and_guid_when_its_night_is_undone_and_comes_again(
    life: Life, admin: httpx.AsyncClient
) -> None:
    shape_id = await drawn_shape(life)
    (first,) = await data_of(admin, SHAPES)
    (run,) = await life.ask(
        "MATCH (r:Run {tenant_id: $t}) RETURN r.id AS id, r.as_of AS at ORDER BY at DESC LIMIT 1"
    )

    await undo_run(life.graph, life.tenant_id, run["id"], now=run["at"], undone_by="test")
    none = await data_of(admin, SHAPES)
    await life.night(run["at"])

    (again,) = await data_of(admin, SHAPES)
    assert none == []
    assert (again["id"], again["guid"]) == (first["id"], first["guid"])
    assert UUID(first["guid"]).hex == shape_id
    assert kinds(first) == kinds({**SHAPE, "identityId": "ada"})


@pytest.mark.spec("SHAPE-09")
async def test_numbers_are_exact_in_javascript_and_no_two_are_the_same(
    admin: httpx.AsyncClient, new_tenant: Any, new_caller: NewCaller
) -> None:
    other = await new_caller(await new_tenant())
    await other.post("/api/personas", json={"id": "ada", "name": "Another Ada"})
    for client in (admin, other):
        for number in range(5):
            body = {"connected_themes": "boats", "felt_absence": "", "shape_id": f"s{number}"}
            added = await client.post("/api/personas/ada/shapes", json=body)
            assert added.status_code == 201, added.text

    ours, theirs = [await data_of(client, SHAPES) for client in (admin, other)]

    numbers = [shape["id"] for shape in [*ours, *theirs]]
    assert len(set(numbers)) == len({shape["guid"] for shape in [*ours, *theirs]}) == 10
    assert all(0 < number <= LARGEST_NUMBER < 2**53 for number in numbers)
    # They follow from ids, not from how many there are: neighbours tell nothing.
    assert min(abs(a - b) for a in numbers for b in numbers if a != b) > 1000


@pytest.mark.spec("SHAPE-09")
async def test_a_guid_sent_twice_is_one_shape(life: Life, admin: httpx.AsyncClient) -> None:
    guid = "5d8a6c1e-2b7f-4a93-8e40-97c3d1f0b6a2"

    first = await admin.post(SHAPES, json={**GIVEN, "guid": guid})
    before = await dump(life.graph, life.tenant_id)
    again = await admin.post(SHAPES, json={**GIVEN, "guid": guid.upper()})

    assert (first.status_code, again.status_code) == (201, 201), first.text
    assert first.json()["data"] == again.json()["data"]
    assert first.json()["data"]["guid"] == guid
    assert await dump(life.graph, life.tenant_id) == before


@pytest.mark.spec("SHAPE-09")
async def test_both_doors_lead_to_the_same_shapes(
    admin: httpx.AsyncClient,
) -> None:
    ours = {"connected_themes": "boats", "felt_absence": "They are gone.", "shape_id": "mine"}
    await admin.post("/api/personas/ada/shapes", json=ours)
    theirs = (await admin.post(SHAPES, json=GIVEN)).json()["data"]

    listed = await data_of(admin, SHAPES)
    at_home = (await admin.get("/api/personas/ada/shapes")).json()["items"]
    await admin.post(f"/api/memories/{at_home[0]['shape_id']}/archive")

    assert [shape["connectedThemes"] for shape in listed] == ["boats, a harbour", "boats"]
    assert [shape["connected_themes"] for shape in at_home] == ["boats, a harbour", "boats"]
    assert at_home[0]["shape_id"] == UUID(theirs["guid"]).hex
    assert len(await data_of(admin, SHAPES)) == 2
    assert [it["title"] for it in await data_of(admin, MEMORIES)] == [at_home[1]["title"]]


@pytest.mark.spec("SHAPE-09")
async def test_the_next_page_is_in_the_header_link(life: Life, admin: httpx.AsyncClient) -> None:
    for _ in range(5):
        await admin.post(SHAPES, json=GIVEN)
    for path in (SHAPES, MEMORIES):
        seen, address = [], f"{path}?limit=2"
        for _ in range(3):
            answer = await admin.get(address)
            seen += [shape["id"] for shape in answer.json()["data"]]
            link = answer.headers.get("Link", "")
            if match := re.fullmatch(r'<(/api/\S+)>; rel="next"', link):
                address = match[1]

        assert link == ""
        assert len(seen) == len(set(seen)) == 5


@pytest.mark.spec("SEC-05")
@pytest.mark.parametrize(
    "wrong",
    [
        {"connectedThemes": "x" * 2001},
        {"feltAbsence": "x" * 2001},
        {"temporalMarker": "x" * 101},
        {"guid": "not a guid"},
        {"connected_themes": "in the wrong casing"},
        {"emotionalResidue": "0.5"},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
async def test_what_the_contract_does_not_take_is_refused(
    life: Life, admin: httpx.AsyncClient, wrong: dict[str, Any]
) -> None:
    before = await dump(life.graph, life.tenant_id)

    refused = await admin.post(SHAPES, json={**GIVEN, **wrong})
    of_type = await admin.get(MEMORIES, params={"type": "Reflection"})

    assert (refused.status_code, of_type.status_code) == (400, 400), refused.text
    assert await dump(life.graph, life.tenant_id) == before


@pytest.mark.spec("SHAPE-09")
@pytest.mark.parametrize(("given", "kept"), [(1.7, 1), (-0.2, 0)])
async def test_the_residue_is_clamped(admin: httpx.AsyncClient, given: float, kept: float) -> None:
    added = await admin.post(SHAPES, json={**GIVEN, "emotionalResidue": given})

    assert added.json()["data"]["emotionalResidue"] == kept
