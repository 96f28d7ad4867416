"""What a person may see and change in a Memory Manager, and what they see of others' flags."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from engine.access.instances import add_instance
from engine.access.models import Instance, Role
from engine.errors import MessageNotFound
from engine.memory.candidates import propose_candidate
from engine.memory.memories import NewMemory, remember
from engine.models import MemoryType
from engine.talk.conversations import add_conversation, record_messages
from engine.talk.models import Conversation, Message, Speaker
from tests.api.conftest import NewCaller
from tests.lives import Life

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
Person = Callable[[str], Awaitable[httpx.AsyncClient]]


def ago(delta: timedelta) -> datetime:
    return datetime.now(UTC).replace(microsecond=0) - delta


@pytest.fixture
async def admin(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    return await new_caller(life.tenant_id)


@pytest.fixture
async def person(life: Life, admin: httpx.AsyncClient, new_caller: NewCaller) -> Person:
    """Sam and Kim are members of the studio, Lea is its admin, Mia is in the attic only."""
    await add_instance(life.graph, life.tenant_id, Instance("attic", "Attic", ago(9 * DAY)))
    secret = Conversation("secret", "attic", ["ada"], ago(9 * DAY), "Secret")
    await add_conversation(life.graph, life.caller, secret)
    for instance_id, user_id, role in (
        ("studio", "sam", "member"),
        ("studio", "kim", "member"),
        ("studio", "lea", "admin"),
        ("attic", "mia", "member"),
    ):
        path = f"/api/instances/{instance_id}/members/{user_id}"
        assert (await admin.put(path, json={"role": role})).status_code in (200, 201)

    async def make(user_id: str) -> httpx.AsyncClient:
        return await new_caller(life.tenant_id, Role.USER, user_id)

    return make


async def in_attic(life: Life, message_id: str, content: str) -> None:
    said = Message(message_id, "secret", "ada", Speaker.USER, content, ago(5 * DAY), user_id="mia")
    await record_messages(life.graph, life.caller, "secret", [said], now=ago(5 * DAY))


async def items(client: httpx.AsyncClient, **which: Any) -> list[dict[str, Any]]:
    answer = await client.get("/api/items", params=which)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


async def test_a_memory_is_changed_by_who_said_it_and_by_admins_of_the_instance(
    life: Life, person: Person
) -> None:
    (said,) = await life.say("The red house burned down.", at=ago(5 * DAY))
    await life.night(ago(3 * DAY))
    (memory,) = [memory for memory in await life.memories() if memory.source_message_ids == [said]]
    path = f"/api/memories/{memory.memory_id}"
    sam, kim, lea, mia = [await person(name) for name in ("sam", "kim", "lea", "mia")]

    async def tries(client: httpx.AsyncClient) -> list[int]:
        answers = [
            await client.get(path),
            await client.get(f"{path}/history"),
            await client.get(f"{path}/links"),
            await client.patch(path, json={"pinned": True, "importance": 7}),
            await client.post(f"{path}/minimize", json={}),
            await client.post(f"{path}/restore"),
        ]
        return [answer.status_code for answer in answers]

    before = await life.everything()
    assert await tries(kim) == [200, 200, 200, 404, 404, 404]
    assert await tries(mia) == [404] * 6
    assert await life.everything() == before
    absent = await mia.get("/api/memories/absent")
    hidden = await mia.get(path)
    assert absent.json()["title"] == hidden.json()["title"]
    assert await tries(sam) == [200] * 6
    assert await tries(lea) == [200] * 6
    assert [item["can_change"] for item in await items(sam)] == [True]
    assert [item["can_change"] for item in await items(kim)] == [False]
    assert await items(mia) == []
    listed = [
        (await client.get("/api/personas/ada/memories")).json()["items"] for client in (kim, mia)
    ]
    assert [len(page) for page in listed] == [1, 0]
    assert (await sam.post(f"{path}/archive")).status_code == 403
    story = (await sam.get(f"{path}/history")).json()
    assert [(record["action"], record["by"]) for record in story if not record["run_id"]] == [
        ("changed", "sam"),
        ("minimized", "sam"),
        ("restored", "sam"),
        ("minimized", "lea"),
        ("restored", "lea"),
    ]


@pytest.mark.spec("CAND-03")
async def test_a_person_edits_and_removes_their_candidates_until_the_night_has_taken_them(
    life: Life, person: Person
) -> None:
    (said,) = await life.say("A green tree fell on the road.", at=ago(HOUR))
    old = await life.propose("An old gate.", at=ago(25 * HOUR), sources=[said])
    (drawn,) = [candidate for candidate in await life.candidates() if candidate.candidate_id != old]
    path = f"/api/candidates/{drawn.candidate_id}"
    sam, kim, mia = [await person(name) for name in ("sam", "kim", "mia")]
    before = await life.everything()

    refused = [
        *[await client.patch(path, json={"text": "Nothing fell."}) for client in (kim, mia)],
        *[await client.delete(path) for client in (kim, mia)],
        *[await client.post(f"{path}/restore") for client in (kim, mia)],
    ]
    late = [
        await sam.patch(f"/api/candidates/{old}", json={"text": "A new gate."}),
        await sam.delete(f"/api/candidates/{old}"),
    ]

    assert [response.status_code for response in refused] == [404] * 6
    assert [(response.status_code, "instead" in response.json()) for response in late] == [
        (409, False)
    ] * 2
    assert await life.everything() == before
    listed = [
        (await client.get("/api/personas/ada/candidates")).json()["items"] for client in (sam, mia)
    ]
    assert [len(page) for page in listed] == [2, 0]
    edited = await sam.patch(path, json={"text": "A tree fell on the road."})
    assert (edited.status_code, edited.json()["text"]) == (200, "A tree fell on the road.")
    assert (await sam.delete(path)).status_code == 204
    assert (await sam.patch(path, json={"text": "It stands again."})).status_code == 409

    await life.night(ago(timedelta()))
    offered = [
        await sam.patch(f"/api/candidates/{old}", json={"text": "A new gate."}),
        await sam.delete(f"/api/candidates/{old}"),
    ]
    for answer in offered:
        assert answer.status_code == 409
        assert answer.json()["instead"] == {"minimize_memory": f"/api/memories/{old}/minimize"}
    taken = await sam.post(offered[0].json()["instead"]["minimize_memory"], json={})
    assert (taken.status_code, taken.json()["weight_modifier"]) == (200, 0.2)


async def test_what_comes_from_two_instances_or_from_no_message_is_for_no_member_of_one(
    life: Life, person: Person, admin: httpx.AsyncClient
) -> None:
    (said,) = await life.say("The red house burned down.", at=ago(5 * DAY))
    await in_attic(life, "hidden", "The red house burned down.")
    both = await life.propose("A house burned.", at=ago(5 * DAY), sources=[said, "hidden"])
    neither = await life.propose("Nobody said so.", at=ago(5 * DAY))
    mine = await life.propose("A red house.", at=ago(5 * DAY), sources=[said])
    pending = await life.propose("A burnt house.", at=ago(HOUR), sources=[said, "hidden"])
    await life.night(ago(3 * DAY))
    sam, lea, mia = [await person(name) for name in ("sam", "lea", "mia")]

    for somebody in (sam, lea, mia):
        for memory_id in (both, neither):
            path = f"/api/memories/{memory_id}"
            assert (await somebody.get(path)).status_code == 404
            assert (await somebody.get(f"{path}/history")).status_code == 404
            assert (await somebody.patch(path, json={"pinned": True})).status_code == 404
        assert (await somebody.delete(f"/api/candidates/{pending}")).status_code == 404
        shown = {item["id"] for item in await items(somebody)}
        assert shown.isdisjoint({both, neither, pending})
    assert mine in {item["id"] for item in await items(sam)}
    assert {both, neither, pending} <= {item["id"] for item in await items(admin)}
    await admin.put("/api/instances/attic/members/sam", json={})
    assert (await sam.get(f"/api/memories/{both}")).status_code == 200
    assert {both, pending} <= {item["id"] for item in await items(sam)}


async def test_who_acts_for_a_person_draws_from_messages_they_may_know_of(
    life: Life, person: Person
) -> None:
    await person("sam")
    await in_attic(life, "hidden", "The red house burned down.")
    for_sam = replace(life.caller, role=Role.USER, user_id="sam")
    new = NewMemory(MemoryType.SEMANTIC, "A house burned.", {}, source_message_ids=["hidden"])
    proposed: dict[str, Any] = {
        "memory_type": MemoryType.SEMANTIC,
        "text": "A house burned.",
        "content": {},
        "source_message_ids": ["hidden"],
        "chosen_id": None,
    }
    before = await life.everything()

    with pytest.raises(MessageNotFound):
        await remember(life.graph, life.embedder, for_sam, "ada", new, now=ago(HOUR))
    with pytest.raises(MessageNotFound):
        await propose_candidate(
            life.graph, life.embedder, for_sam, "ada", now=ago(HOUR), **proposed
        )

    assert await life.everything() == before


@pytest.mark.spec("NAV-06")
async def test_a_flag_of_somebody_else_is_not_shown_by_what_it_holds_back_or_down(
    life: Life, person: Person, admin: httpx.AsyncClient
) -> None:
    (old,) = await life.say("The red house burned down.", at=ago(5 * DAY))
    await life.night(ago(3 * DAY))
    (new,) = await life.say("A green tree fell on the road.", at=ago(HOUR))
    (memory,) = [item["id"] for item in await items(admin, state="active")]
    (candidate,) = [item["id"] for item in await items(admin, state="pending")]
    sam, kim, lea = [await person(name) for name in ("sam", "kim", "lea")]

    async def shown(client: httpx.AsyncClient) -> list[Any]:
        by_id = {item["id"]: item for item in await items(client)}
        counts = (await client.get("/api/items/counts")).json()
        one = (await client.get(f"/api/memories/{memory}")).json()
        pending = (await client.get("/api/personas/ada/candidates")).json()["items"]
        held = await client.get("/api/personas/ada/candidates", params={"state": "suppressed"})
        story = (await client.get(f"/api/memories/{memory}/history")).json()
        of_message = (await client.get(f"/api/messages/{old}/history")).json()
        return [
            by_id[memory],
            by_id[candidate],
            {name: count for name, count in counts.items() if count},
            [item["id"] for item in await items(client, state="not_remembered")],
            one["weight_modifier"],
            [
                (candidate["state"], candidate["deprioritized"], candidate["deprioritized_at"])
                for candidate in pending
            ],
            len(held.json()["items"]),
            [record["action"] for record in story if not record["run_id"]],
            [record["action"] for record in of_message],
        ]

    as_it_was = await shown(sam)
    for message_id in (old, new):
        assert (await kim.post(f"/api/messages/{message_id}/forget")).status_code == 200

    assert await shown(sam) == as_it_was
    for somebody in (kim, lea, admin):
        history = await shown(somebody)
        assert [item["standing"] for item in history[:2]] == ["not_remembered"] * 2
        assert (history[0]["flagged"], history[0]["minimized"], history[0]["weight_modifier"]) == (
            True,
            True,
            0.2,
        )
        assert history[1]["state"] == "suppressed"
        assert history[2] == {"not_remembered": 2}
        assert sorted(history[3]) == sorted([memory, candidate])
        assert history[4:] == [0.2, [], 1, ["flagged"], ["flagged"]]
    await lea.post(f"/api/messages/{old}/undo", json={})
    history = (await kim.get(f"/api/messages/{old}/history")).json()
    assert [(record["action"], record["by"]) for record in history] == [
        ("flagged", "kim"),
        ("unflagged", "lea"),
    ]
    assert (await sam.get(f"/api/messages/{old}/history")).json() == []


@pytest.mark.spec("UNDO-04")
async def test_what_the_night_passed_over_is_restored_by_who_said_it(
    life: Life, person: Person
) -> None:
    (said,) = await life.say("A green tree fell on the road.", at=ago(5 * DAY))
    (candidate,) = await life.candidates()
    sam, kim, mia = [await person(name) for name in ("sam", "kim", "mia")]
    await sam.post(f"/api/messages/{said}/forget")
    await life.night(ago(3 * DAY))
    restore = f"/api/candidates/{candidate.candidate_id}/restore"
    still_flagged = await sam.post(restore)
    await sam.post(f"/api/messages/{said}/undo", json={})
    await life.night(ago(2 * DAY))

    assert still_flagged.status_code == 409
    assert await life.memories() == []  # taking the flag back alone does not bring it back
    assert [(await client.post(restore)).status_code for client in (kim, mia)] == [404, 404]
    restored = await sam.post(restore)
    assert (restored.status_code, restored.json()["state"]) == (200, "pending")
    await life.night(ago(timedelta()))
    assert [memory.memory_id for memory in await life.memories()] == [candidate.candidate_id]
