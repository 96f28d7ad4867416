"""The Memory Manager's questions, and the context a persona is handed."""

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from engine.access.instances import add_instance
from engine.access.models import Instance, Role
from engine.talk.conversations import add_conversation, record_messages
from engine.talk.models import Conversation, Message, Speaker
from tests.api.conftest import NewCaller
from tests.lives import Life

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def ago(delta: timedelta) -> datetime:
    return datetime.now(UTC).replace(microsecond=0) - delta


@pytest.fixture
async def admin(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    return await new_caller(life.tenant_id)


async def items(client: httpx.AsyncClient, **which: Any) -> list[dict[str, Any]]:
    answer = await client.get("/api/items", params=which)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


async def a_life_of_every_standing(life: Life, admin: httpx.AsyncClient) -> dict[str, str]:
    said = await life.say(
        "The red house burned down.",
        "A green tree fell on the road.",
        "The blue gate is locked for good.",
        at=ago(5 * DAY),
    )
    await life.night(ago(3 * DAY))
    by_source = {item["source_message_ids"][0]: item["id"] for item in await items(admin)}
    active, archived, flagged = (by_source[message_id] for message_id in said)
    await admin.post(f"/api/memories/{archived}/archive")
    await admin.post(f"/api/messages/{said[2]}/forget")
    pending = await life.propose("Sam likes boats.", at=ago(HOUR), sources=[said[0]])
    removed = await life.propose("Sam likes rain.", at=ago(HOUR), sources=[said[0]])
    await admin.delete(f"/api/candidates/{removed}")
    return {
        "active": active,
        "archived": archived,
        "not_remembered": flagged,
        "pending": pending,
        "removed": removed,
    }


async def test_items_are_listed_by_where_they_stand_with_counts(
    life: Life, admin: httpx.AsyncClient
) -> None:
    wanted = await a_life_of_every_standing(life, admin)

    for standing, item_id in wanted.items():
        assert [item["id"] for item in await items(admin, state=standing)] == [item_id]
    counts = (await admin.get("/api/items/counts", params={"persona_id": "ada"})).json()
    assert counts == {**dict.fromkeys(wanted, 1), "more": False}
    (found,) = await items(admin, q="GREEN tree")
    assert (found["id"], found["standing"]) == (wanted["archived"], "archived")
    assert await items(admin, persona_id="nobody") == []
    assert len(await items(admin, type="episodic")) == 5


async def test_items_are_sorted_and_paged_by_cursor_in_any_order(
    life: Life, admin: httpx.AsyncClient
) -> None:
    ids = [
        await life.propose(f"story{place} of{place} its{place}", at=ago(5 * DAY) + place * HOUR)
        for place in range(7)
    ]
    await life.night(ago(2 * DAY))
    for place in (2, 5):
        await admin.patch(f"/api/memories/{ids[place]}", json={"importance": 9})

    async def paged(**which: Any) -> list[str]:
        found, cursor = [], None
        while True:
            asked = {**which, "limit": 3} | ({"cursor": cursor} if cursor else {})
            answer = (await admin.get("/api/items", params=asked)).json()
            found += [item["id"] for item in answer["items"]]
            cursor = answer["next_cursor"]
            if not cursor:
                return found

    assert await paged(sort="oldest") == ids
    assert await paged(sort="newest") == ids[::-1]
    for scope in ({}, {"persona_id": "ada"}, {"instance_id": "studio"}):
        wanted = [] if "instance_id" in scope else ids  # nobody said these
        assert await paged(sort="oldest", **scope) == wanted
        assert await paged(sort="newest", **scope) == wanted[::-1]
        assert await paged(sort="newest", state="active", **scope) == wanted[::-1]
        assert await paged(sort="oldest", q="sto", **scope) == wanted
        assert sorted(await paged(sort="salience", **scope)) == sorted(wanted)
        by_importance = await paged(sort="importance", **scope)
        assert set(by_importance[:2]) == {wanted[place] for place in (2, 5) if wanted}
        assert sorted(by_importance) == sorted(wanted)


@pytest.mark.parametrize(
    "cursor",
    [
        "nope",
        "[1]",
        '["2026-01-01", "a"]',
        '["2026-01-01T00:00:00+00:00", 1]',
        f'[1{"0" * 370}, "a"]',
        f'["{"9" * 300}", "a"]',
        "[NaN, 1]",
        "[" * 300,
    ],
)
@pytest.mark.parametrize("sort", ["newest", "importance"])
async def test_a_cursor_that_no_listing_gave_out_is_refused(
    life: Life, admin: httpx.AsyncClient, cursor: str, sort: str
) -> None:
    given = base64.urlsafe_b64encode(cursor.encode()).decode().rstrip("=")

    answer = await admin.get("/api/items", params={"cursor": given, "sort": sort})

    assert answer.status_code == 400, answer.text


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("green", True),
        ("gre", True),
        ("road GREEN", True),
        ("green house", False),
        ('"green" (tree', True),
        ("green AND", False),
        ("text:green", False),
        ("*", False),
        ("+-&&||!(){}[]^~?:/", False),
        ("gree\\", False),
        ("tree/road", False),
        ("a" * 200, False),
    ],
)
async def test_words_are_words_whatever_they_mean_to_the_index(
    life: Life, admin: httpx.AsyncClient, words: str, found: bool
) -> None:
    await life.propose("A green tree fell on the road.", at=ago(HOUR))

    assert bool(await items(admin, q=words)) is found
    assert bool(await items(admin, q=words, persona_id="ada")) is found


async def test_a_listing_goes_on_where_most_are_not_for_the_caller(
    life: Life, admin: httpx.AsyncClient, new_caller: NewCaller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.memory.items.MAX_SCANNED", 4)
    monkeypatch.setattr("engine.memory.items.WINDOW_SIZE", 2)
    (said,) = await life.say("ok", at=ago(2 * DAY))
    mine = [await life.propose("My own story.", at=ago(2 * DAY), sources=[said])]
    for place in range(9):
        await life.propose(f"story{place}", at=ago(DAY))
    await admin.put("/api/instances/studio/members/sam", json={})
    sam = await new_caller(life.tenant_id, Role.USER, "sam")

    found, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        answer = await sam.get("/api/items", params={"cursor": cursor} if cursor else {})
        found += [item["id"] for item in answer.json()["items"]]
        cursor = answer.json()["next_cursor"]
        pages += 1

    assert found == mine
    assert pages > 1


async def test_a_person_sees_what_was_said_in_their_instances_and_no_more(
    life: Life, admin: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    (said,) = await life.say("The red house burned down.", at=ago(5 * DAY))
    await add_instance(life.graph, life.tenant_id, Instance("attic", "Attic", ago(DAY)))
    await add_conversation(
        life.graph, life.caller, Conversation("secret", "attic", ["ada"], ago(DAY), "Secret")
    )
    hidden = Message("hidden", "secret", "ada", Speaker.USER, "A hidden tree.", ago(5 * DAY))
    await record_messages(life.graph, life.caller, "secret", [hidden], now=ago(5 * DAY))
    both = await life.propose("A hidden tree.", at=ago(5 * DAY), sources=["hidden"])
    await admin.put("/api/instances/studio/members/sam", json={})
    sam = await new_caller(life.tenant_id, Role.USER, "sam")
    mia = await new_caller(life.tenant_id, Role.USER, "mia")

    assert [item["source_message_ids"] for item in await items(sam)] == [[said]]
    assert await items(mia) == []
    assert sum((await sam.get("/api/items/counts")).json().values()) == 1
    assert [item["id"] for item in await items(admin, instance_id="attic")] == [both]
    assert await items(sam, instance_id="attic") == []


async def test_what_is_flagged_is_not_in_the_context_and_leaves_one_mark_where_it_is_leant_on(
    life: Life, admin: httpx.AsyncClient
) -> None:
    turns = [
        ("user", "The red house burned down."),
        ("persona", "That is terrible."),
        ("user", "A green tree fell."),
        ("user", "And the gate is blue."),
    ]
    said = [
        {
            "message_id": f"t{place}",
            "persona_id": "ada",
            "role": role,
            "content": content,
            "timestamp": (ago(HOUR) + place * timedelta(minutes=1)).isoformat(),
        }
        for place, (role, content) in enumerate(turns)
    ]
    await admin.post("/api/conversations/monday/messages", json={"messages": said})

    async def context(turns: int = 20) -> list[str]:
        asked = {"conversation_id": "monday", "turns": turns}
        answer = await admin.post("/api/personas/ada/context", json=asked)
        assert answer.status_code == 200, answer.text
        pieces = answer.json()["pieces"]
        return [piece["content"] for piece in pieces if piece["layer"] == "working"]

    everything = [content for _, content in turns]
    assert await context() == everything
    await admin.post("/api/messages/t0/forget")
    mark = "[prior exchange deprioritized by user]"
    assert await context() == [mark, *everything[1:]]
    await admin.post("/api/messages/t2/forget")
    assert await context() == [mark, everything[1], everything[3]]  # nobody answered the tree
    assert await context(turns=1) == [everything[3]]
    await admin.post("/api/messages/t0/undo", json={})
    await admin.post("/api/messages/t2/undo", json={})
    assert await context() == everything
    listed = await admin.get("/api/conversations/monday/messages")
    assert mark not in listed.text
