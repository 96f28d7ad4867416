"""Forgotten shapes at the door: added by hand, listed and read, beside those that a night draws."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from engine.access.models import Role
from engine.memory.memories import archive_memory
from engine.memory.shape_content import MAX_EXPERIENCE, MAX_MARKER
from engine.service.clock import MovableClock
from tests.api.conftest import NewCaller
from tests.api.dumps import dump
from tests.api.test_bounds import SCRIPTS, cursor_of, text_of
from tests.lives import FIRST_NIGHT, Life

DAY = timedelta(days=1)
SHAPES = "/api/personas/ada/shapes"
HARBOUR = {
    "shape_id": "harbour",
    "connected_themes": "boats, a harbour",
    "felt_absence": "Somebody used to wave from the quay.",
    "emotional_residue": 0.6,
    "temporal_marker": "in some summer",
    "sense_of_loss": "it mattered",
}


@pytest.fixture
async def admin(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    return await new_caller(life.tenant_id)


async def add(client: httpx.AsyncClient, **changes: Any) -> dict[str, Any]:
    answer = await client.post(SHAPES, json={**HARBOUR, **changes})
    assert answer.status_code == 201, answer.text
    shape: dict[str, Any] = answer.json()
    return shape


async def drawn_shape(life: Life) -> str:
    """The id of a shape that a night has drawn of what was archived."""
    for kept in await life.remember("a walk by the river", "buying new boots"):
        await archive_memory(life.graph, life.caller, kept, now=FIRST_NIGHT + DAY)
    await life.night(FIRST_NIGHT + 2 * DAY)
    (row,) = await life.ask("MATCH (shape:ForgottenShape {tenant_id: $t}) RETURN shape.id AS id")
    return str(row["id"])


@pytest.mark.spec("SHAPE-01")
async def test_a_shape_is_added_read_and_listed(
    admin: httpx.AsyncClient, clock: MovableClock
) -> None:
    await clock.move(FIRST_NIGHT)

    added = await add(admin)

    said = {name: value for name, value in HARBOUR.items() if name != "shape_id"}
    assert {name: added[name] for name in said} == said
    assert added["title"] == "Forgotten Shape -- 2026-05-03"
    assert (added["shape_id"], added["persona_id"]) == ("harbour", "ada")
    assert (added["importance"], added["state"], added["sources"]) == (3, "active", 0)
    assert added["drawn_by"] == "hand"
    assert added["decayed_at"] == added["formed_at"]
    assert added["formed_at"].startswith("2026-05-03T03:00:")
    assert (await admin.get("/api/shapes/harbour")).json() == added
    assert (await admin.get(SHAPES)).json() == {"items": [added], "next_cursor": None}


@pytest.mark.spec("SHAPE-01")
async def test_one_added_by_hand_and_one_that_was_drawn_are_one_kind(
    life: Life, admin: httpx.AsyncClient, clock: MovableClock
) -> None:
    drawn_id = await drawn_shape(life)
    await clock.move(FIRST_NIGHT + 3 * DAY)
    added = await add(admin)

    listed = (await admin.get(SHAPES)).json()["items"]

    assert [shape["shape_id"] for shape in listed] == ["harbour", drawn_id]
    drawn = (await admin.get(f"/api/shapes/{drawn_id}")).json()
    assert listed[1] == drawn
    assert {name: type(value) for name, value in drawn.items()} == {
        name: type(value) for name, value in added.items()
    }
    memories = [(await admin.get(f"/api/memories/{id_}")).json() for id_ in ("harbour", drawn_id)]
    assert {memory["memory_type"] for memory in memories} == {"forgotten_shape"}
    assert [memory["importance"] for memory in memories] == [3, 3]


@pytest.mark.spec("SHAPE-01", "SHAPE-07")
async def test_one_added_by_hand_is_recalled_linked_archived_and_fades(
    life: Life, admin: httpx.AsyncClient, clock: MovableClock
) -> None:
    (kept,) = await life.remember("a walk by the river")
    now = FIRST_NIGHT + DAY
    await clock.move(now)
    await add(admin)
    await add(admin, shape_id="left", connected_themes="gardens")

    question = {"query": "boats in a harbour", "counts": False}
    hits = (await admin.post("/api/personas/ada/recall", json=question)).json()["hits"]
    linked = await admin.post("/api/memories/harbour/links", json={"to_id": kept})
    archived = await admin.post("/api/memories/left/archive")
    await clock.move(None)
    for days in (40, 40, 40):
        now += timedelta(days=days)
        await life.night(now)

    assert "harbour" in [hit["id"] for hit in hits]
    assert (linked.status_code, linked.json()["to_id"]) == (201, kept)
    assert archived.json()["state"] == "archived"
    states = {it["shape_id"]: it["state"] for it in (await admin.get(SHAPES)).json()["items"]}
    assert (states["harbour"], states["left"]) == ("archived", "archived")
    of_state = (await admin.get(SHAPES, params={"state": "archived"})).json()["items"]
    assert {it["shape_id"] for it in of_state} == {
        id_ for id_, s in states.items() if s != "active"
    }


async def test_pages_are_in_one_order_the_newest_first(
    life: Life, admin: httpx.AsyncClient
) -> None:
    ids = [f"s{number}" for number in range(7)]
    for shape_id in ids:
        await add(admin, shape_id=shape_id)
    await life.ask(  # two and two at the same time
        """
        MATCH (shape:ForgottenShape {tenant_id: $t})
        SET shape.formed_at = $first + duration({days: toInteger(substring(shape.id, 1)) / 2})""",
        first=FIRST_NIGHT,
    )

    seen, cursor = [], None
    while True:
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await admin.get(SHAPES, params=params)).json()
        seen += [shape["shape_id"] for shape in page["items"]]
        if not (cursor := page["next_cursor"]):
            break

    assert seen == ids[::-1]
    assert (await admin.get(SHAPES, params={"cursor": cursor_of("no time|s1")})).status_code == 400


@pytest.mark.spec("SHAPE-01")
@pytest.mark.parametrize(
    ("given", "kept"), [(7.5, 1.0), (-3, 0.0), (1, 1.0), (0.25, 0.25), (-(10**30), 0.0), (1e300, 1)]
)
async def test_the_residue_is_brought_between_0_and_1(
    admin: httpx.AsyncClient, given: float, kept: float
) -> None:
    assert (await add(admin, emotional_residue=given))["emotional_residue"] == kept


@pytest.mark.spec("SHAPE-01")
@pytest.mark.parametrize("script", SCRIPTS)
async def test_a_shape_at_its_bounds_is_stored_and_recalled(
    admin: httpx.AsyncClient, script: str
) -> None:
    longest = {
        "connected_themes": text_of(script, MAX_EXPERIENCE),
        "felt_absence": text_of(script, MAX_EXPERIENCE),
        "temporal_marker": text_of(script, MAX_MARKER),
        "sense_of_loss": text_of(script, MAX_EXPERIENCE),
    }

    added = await add(admin, **longest)

    assert {name: added[name] for name in longest} == longest
    question = {"query": longest["connected_themes"], "counts": False}
    recalled = await admin.post("/api/personas/ada/recall", json=question)
    assert [hit["id"] for hit in recalled.json()["hits"]] == ["harbour"], recalled.text[:300]


@pytest.mark.spec("SEC-05")
@pytest.mark.parametrize(
    "wrong",
    [
        {"connected_themes": "x" * (MAX_EXPERIENCE + 1)},
        {"felt_absence": "x" * (MAX_EXPERIENCE + 1)},
        {"sense_of_loss": "x" * (MAX_EXPERIENCE + 1)},
        {"temporal_marker": "x" * (MAX_MARKER + 1)},
        {"emotional_residue": "much"},
        {"emotional_residue": None},
        {"shape_id": "x" * 129},
        {"title": "My own"},
        {"importance": 9},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
async def test_a_shape_beyond_its_bounds_is_refused_and_leaves_nothing(
    life: Life, admin: httpx.AsyncClient, wrong: dict[str, Any]
) -> None:
    before = await dump(life.graph, life.tenant_id)

    refused = await admin.post(SHAPES, json={**HARBOUR, **wrong})

    assert refused.status_code == 400, refused.text
    assert await dump(life.graph, life.tenant_id) == before


async def test_the_same_shape_sent_twice_is_one(life: Life, admin: httpx.AsyncClient) -> None:
    first = await add(admin)
    before = await dump(life.graph, life.tenant_id)

    again = await add(admin)

    assert again == first
    assert await dump(life.graph, life.tenant_id) == before


async def test_the_same_shape_sent_many_times_at_once_is_one(
    life: Life, admin: httpx.AsyncClient
) -> None:
    answers = await asyncio.gather(*(add(admin) for _ in range(6)))

    assert all(answer == answers[0] for answer in answers)
    (row,) = await life.ask(
        """
        MATCH (shape:ForgottenShape {tenant_id: $t})-[:FELT_AS]->(record)
        RETURN count(*) AS shapes, COUNT { (:Event {tenant_id: $t})-[:ABOUT]->(shape) } AS events"""
    )
    assert row == {"shapes": 1, "events": 1}


async def test_an_id_that_something_else_has_is_refused(
    life: Life, admin: httpx.AsyncClient
) -> None:
    (kept,) = await life.remember("a walk by the river")
    pending = await life.propose("a new pair of boots")
    await admin.post("/api/personas", json={"id": "eve", "name": "Eve"})
    await add(admin)
    before = await dump(life.graph, life.tenant_id)

    answers = [
        await admin.post(SHAPES, json={**HARBOUR, "felt_absence": "Something else."}),
        await admin.post("/api/personas/eve/shapes", json=HARBOUR),
        await admin.post(SHAPES, json={**HARBOUR, "shape_id": kept}),
        await admin.post(SHAPES, json={**HARBOUR, "shape_id": pending}),
    ]

    assert [answer.status_code for answer in answers] == [409] * 4
    assert await dump(life.graph, life.tenant_id) == before


async def test_adding_a_shape_is_in_the_audit_without_what_it_says(
    admin: httpx.AsyncClient,
) -> None:
    await add(admin, connected_themes="broccoli", felt_absence="broccoli")

    audit = await admin.get("/api/audit")
    history = (await admin.get("/api/memories/harbour/history")).json()

    (record,) = [event for event in audit.json()["items"] if "harbour" in event["about"]]
    assert record["action"] == "remembered"
    assert json.loads(record["after"]) == {"memory_type": "forgotten_shape"}
    assert [event["action"] for event in history] == ["remembered"]
    assert "broccoli" not in audit.text


@pytest.mark.spec("SEC-01")
async def test_only_staff_see_shapes_and_only_editors_add_them(
    life: Life, admin: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    """A shape comes from no message of its own, so no person sees one, whatever it was drawn of."""
    await admin.put("/api/instances/studio/members/sam", json={})
    drawn_id = await drawn_shape(life)
    await add(admin)
    runtime, analyst = [
        await new_caller(life.tenant_id, role) for role in (Role.RUNTIME, Role.ANALYST)
    ]
    sam = await new_caller(life.tenant_id, Role.USER, "sam")
    for_sam = await new_caller(life.tenant_id, Role.RUNTIME, "sam")

    for staff in (runtime, analyst):
        assert len((await staff.get(SHAPES)).json()["items"]) == 2
        assert (await staff.get("/api/shapes/harbour")).status_code == 200
    for person in (sam, for_sam):
        assert (await person.get(SHAPES)).json() == {"items": [], "next_cursor": None}
        for shape_id in ("harbour", drawn_id):
            hidden = await person.get(f"/api/shapes/{shape_id}")
            absent = await person.get("/api/shapes/absent")
            assert (hidden.status_code, hidden.json()["title"]) == (404, absent.json()["title"])
    assert [
        (await who.post(SHAPES, json={**HARBOUR, "shape_id": f"of-{place}"})).status_code
        for place, who in enumerate((runtime, for_sam, analyst, sam))
    ] == [201, 201, 403, 403]


@pytest.mark.spec("SEC-01")
async def test_another_tenants_shapes_are_as_if_they_were_not(
    life: Life,
    admin: httpx.AsyncClient,
    new_tenant: Any,
    new_caller: NewCaller,
) -> None:
    await add(admin)
    stranger = await new_caller(await new_tenant())
    before = await dump(life.graph, life.tenant_id)

    answers = [
        await stranger.get(SHAPES),
        await stranger.post(SHAPES, json=HARBOUR),
        await stranger.get("/api/shapes/harbour"),
    ]

    assert [answer.status_code for answer in answers] == [404] * 3
    assert await dump(life.graph, life.tenant_id) == before
    await stranger.post("/api/personas", json={"id": "ada", "name": "Another Ada"})
    assert (await add(stranger))["shape_id"] == "harbour"  # the id is free there


async def test_a_withdrawn_shape_is_read_and_says_nothing(
    life: Life, admin: httpx.AsyncClient, clock: MovableClock
) -> None:
    shape_id = await drawn_shape(life)
    await clock.move(FIRST_NIGHT + 3 * DAY)
    await admin.post("/api/memories/buying-new-boots/unarchive")

    withdrawn = (await admin.get(f"/api/shapes/{shape_id}")).json()

    assert (withdrawn["state"], withdrawn["text"], withdrawn["felt_absence"]) == (
        "withdrawn",
        "",
        "",
    )
    assert (await admin.get(SHAPES)).json()["items"] == []
    of_state = (await admin.get(SHAPES, params={"state": "withdrawn"})).json()["items"]
    assert of_state == [withdrawn]
