"""Splitting a conversation, as a chat client offers it."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest

from engine.access.models import Role
from engine.memory.models import CandidateState
from engine.night.undo import undo_run
from tests.api.conftest import NewCaller
from tests.api.forgetting.test_flags import (
    DAY,
    HOUR,
    NONE,
    ago,
    chat,
    forget,
    forget_range,
    take_back,
)
from tests.lives import Life

__all__ = ["chat"]


async def split(
    client: httpx.AsyncClient, first: str, last: str | None = None, **more: Any
) -> dict[str, Any]:
    body = {"first_message_id": first, "last_message_id": last, **more}
    answer = await client.post("/api/conversations/monday/split", json=body)
    assert answer.status_code == 201, answer.text
    result: dict[str, Any] = answer.json()
    return result


async def messages(client: httpx.AsyncClient, conversation: str) -> list[dict[str, Any]]:
    listed = await client.get(f"/api/conversations/{conversation}/messages", params={"limit": 500})
    items: list[dict[str, Any]] = listed.json()["items"]
    return items


OWN = ("message_id", "conversation_id", "reply_to", "deprioritization")


@pytest.mark.spec("NAV-04")
async def test_what_is_carried_keeps_its_words_and_its_flags(
    life: Life, chat: httpx.AsyncClient
) -> None:
    said = await life.say("red house", "green tree", "blue gate", "black cat", at=ago(3 * DAY))
    await forget_range(chat, said[1], said[2])
    await take_back(chat, said[2])
    before = await messages(chat, "monday")

    result = await split(chat, said[1], id="trip", title="The trip")

    assert await messages(chat, "monday") == before
    conversation = (await chat.get("/api/conversations/trip")).json()
    assert result["conversation"] == conversation
    assert (conversation["title"], conversation["instance_id"], conversation["persona_ids"]) == (
        "The trip",
        "studio",
        ["ada"],
    )
    carried = await messages(chat, "trip")
    assert [message["message_id"] for message in carried] == [
        result["message_ids"][message_id] for message_id in said[1:]
    ]
    for copy, original in zip(carried, before[1:], strict=True):
        assert {k: v for k, v in copy.items() if k not in OWN} == {
            k: v for k, v in original.items() if k not in OWN
        }
        assert copy["deprioritization"] == original["deprioritization"] | {"range_id": None}
    flagged, taken_back, never = (message["deprioritization"] for message in carried)
    assert (flagged["is_flagged"], flagged["flagged_by"]) == (True, "sam")
    assert taken_back["reversed_at"]
    assert never == NONE
    (event,) = await life.ask(
        """
        MATCH (e:Event {tenant_id: $t, action: 'split'})-[:ABOUT]->(m)
        RETURN e.conversation_id AS at, e.place AS place, e.into AS into, e.by AS by,
          count(m) AS messages"""
    )
    assert event == {"at": "monday", "place": 3, "into": "trip", "by": "sam", "messages": 6}


async def test_splitting_twice_is_splitting_once_and_another_split_of_the_id_is_refused(
    life: Life, chat: httpx.AsyncClient
) -> None:
    said = await life.say("red house", "green tree", "blue gate", at=ago(HOUR))
    first = await split(chat, said[0], id="trip")
    await life.say("black cat", at=ago(timedelta()))
    before = await life.everything()

    again = await asyncio.gather(*(split(chat, said[0], id="trip") for _ in range(4)))
    others = [
        {"first_message_id": said[1], "id": "trip"},
        {"first_message_id": said[0], "last_message_id": said[1], "id": "trip"},
        {"first_message_id": said[0], "id": "trip", "title": "Another"},
        {"first_message_id": said[0], "id": "monday"},
    ]
    refused = [await chat.post("/api/conversations/monday/split", json=other) for other in others]
    strange = await chat.post(
        "/api/conversations/monday/split", json={"first_message_id": "nothing", "id": "new"}
    )

    assert again == [first] * 4
    assert [response.status_code for response in refused] == [409] * 4
    assert strange.status_code == 400
    assert await life.everything() == before


@pytest.mark.spec("NAV-04")
async def test_nothing_is_remembered_twice_and_the_flags_go_their_own_ways(
    life: Life, chat: httpx.AsyncClient
) -> None:
    """What was drawn from a message is as one would expect while it, or its copy, is flagged."""
    (old,) = await life.say("The red house by the river burned down.", at=ago(5 * DAY))
    await life.night(ago(3 * DAY))
    (memory,) = await life.memories()
    (young,) = await life.say("A green tree fell on the bridge.", at=ago(HOUR))
    await forget(chat, old)
    await forget(chat, young)

    copies = (await split(chat, old, id="trip"))["message_ids"]
    await life.say("Something else entirely.", at=ago(timedelta()))  # draws, also in no copy

    async def state() -> tuple[float, int, int]:
        (now,) = await life.memories()
        return (
            now.weight_modifier,
            len(await life.candidates(CandidateState.SUPPRESSED)),
            len(await life.ask("MATCH (i:Candidate|Memory {tenant_id: $t}) RETURN i.id")),
        )

    assert await state() == (0.2, 1, 3)
    await take_back(chat, old)
    await take_back(chat, copies[young])
    assert await state() == (0.2, 1, 3)
    records = {
        message["message_id"]: message["deprioritization"]["is_flagged"]
        for where in ("monday", "trip")
        for message in await messages(chat, where)
    }
    assert [records[message_id] for message_id in (old, copies[old], young, copies[young])] == [
        False,
        True,
        True,
        False,
    ]
    await take_back(chat, copies[old])
    await take_back(chat, young)
    assert await state() == (1.0, 0, 3)
    await forget(chat, copies[old])  # a flag that is set in the new conversation alone
    assert await state() == (0.2, 0, 3)
    assert set((await life.memory(memory.memory_id)).source_message_ids) == {old, copies[old]}


async def test_a_message_that_is_split_off_before_anything_was_drawn_is_drawn_from_once(
    life: Life, chat: httpx.AsyncClient
) -> None:
    said = {
        "message_id": "quick",
        "persona_id": "ada",
        "role": "user",
        "content": "The red house by the river burned down.",
        "timestamp": ago(HOUR).isoformat(),
    }
    reply = said | {
        "message_id": "reply",
        "content": "ok",
        "reply_to": "quick",
        "timestamp": ago(HOUR / 2).isoformat(),
    }
    await chat.post("/api/conversations/monday/messages", json={"messages": [said, reply]})
    copies = (await split(chat, "quick", id="trip"))["message_ids"]
    twice = await chat.post(
        "/api/conversations/trip/split", json={"first_message_id": copies["quick"], "id": "again"}
    )
    await forget(chat, twice.json()["message_ids"][copies["quick"]])

    await life.say("Something else about a green tree.", at=ago(HOUR))

    (kept,) = await life.candidates(CandidateState.SUPPRESSED)
    assert len(kept.source_message_ids) == 3
    assert (await messages(chat, "trip"))[1]["reply_to"] == copies["quick"]
    (waiting,) = await life.ask(
        """
        MATCH (m:Message {tenant_id: $t}) WHERE m.copied_from IS NOT NULL
        RETURN count(m.waiting_since) AS waiting, collect(DISTINCT m.copied_from) AS originals"""
    )
    assert (waiting["waiting"], sorted(waiting["originals"])) == (0, ["quick", "reply"])


async def test_a_night_that_is_taken_back_after_a_split_leaves_no_source_behind(
    life: Life, chat: httpx.AsyncClient
) -> None:
    (one,) = await life.say("ok", at=ago(9 * DAY))
    first = await life.propose("Sam is polite.", at=ago(9 * DAY), sources=[one])
    await life.night(ago(7 * DAY))
    (two,) = await life.say("thanks", at=ago(6 * DAY))
    again = await life.propose("Sam is polite.", at=ago(6 * DAY), sources=[two])
    night = await life.night(ago(4 * DAY))
    assert night.stages[0].did["merged"] == 1
    copies = (await split(chat, two, id="trip"))["message_ids"]

    await undo_run(life.graph, life.tenant_id, night.id, now=ago(DAY), undone_by="test")

    assert (await life.memory(first)).source_message_ids == [one]
    (candidate,) = await life.candidates()
    assert candidate.candidate_id == again
    assert set(candidate.source_message_ids) == {two, copies[two]}


async def test_who_cannot_see_the_instance_cannot_split_in_it(
    life: Life, chat: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    (said,) = await life.say("red house", at=ago(HOUR))
    outsider = await new_caller(life.tenant_id, Role.USER, "mia")

    refused = await outsider.post(
        "/api/conversations/monday/split", json={"first_message_id": said, "id": "trip"}
    )

    assert refused.status_code == 404
    assert (await chat.get("/api/conversations/trip")).status_code == 404
