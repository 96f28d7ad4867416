"""«Forget This», as a chat client offers it."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from engine.access.models import Role, Tone
from engine.forgetting.acknowledgments import TEMPLATES
from engine.memory.models import CandidateState, LinkType
from engine.night.nights import run_night
from engine.settings import Settings
from engine.store.graph import Graph
from engine.talk.conversations import list_messages
from tests.api.conftest import NewCaller
from tests.lives import Life

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def ago(delta: timedelta) -> datetime:
    return datetime.now(UTC).replace(microsecond=0) - delta


@pytest.fixture
async def chat(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    """Sam, in the chat."""
    admin = await new_caller(life.tenant_id)
    await admin.put("/api/instances/studio/members/sam", json={})
    return await new_caller(life.tenant_id, Role.USER, "sam")


async def forget(chat: httpx.AsyncClient, message_id: str) -> dict[str, Any]:
    answer = await chat.post(f"/api/messages/{message_id}/forget")
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def take_back(chat: httpx.AsyncClient, message_id: str) -> dict[str, Any]:
    answer = await chat.post(f"/api/messages/{message_id}/undo", json={})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def forget_range(
    chat: httpx.AsyncClient, first: str, last: str, *, confirmed: bool = True
) -> httpx.Response:
    ends = {"first_message_id": first, "last_message_id": last, "confirmed": confirmed}
    return await chat.post("/api/conversations/monday/forget-range", json=ends)


async def records(chat: httpx.AsyncClient) -> dict[str, dict[str, Any]]:
    listed = await chat.get("/api/conversations/monday/messages", params={"limit": 500})
    return {item["message_id"]: item["deprioritization"] for item in listed.json()["items"]}


NONE = {
    "is_flagged": False,
    "flagged_at": None,
    "flagged_by": None,
    "scope": None,
    "range_id": None,
    "reversed_at": None,
    "reversal_source": None,
}


@pytest.mark.spec("FLAG-01")
async def test_only_what_was_selected_is_flagged_and_the_record_has_its_shape(
    life: Life, chat: httpx.AsyncClient
) -> None:
    mine, reply = await life.say("I live in Lisbon.", "I went there once.", at=ago(HOUR))

    result = await forget(chat, mine)

    found = await records(chat)
    assert found[reply] == NONE
    record = found[mine]
    assert record.keys() == NONE.keys()
    assert (record["is_flagged"], record["flagged_by"], record["scope"]) == (
        True,
        "sam",
        "context_and_memory",
    )
    assert (record["range_id"], record["reversed_at"], record["reversal_source"]) == (None,) * 3
    assert result["records"] == {mine: record}
    assert result["changed"] == [mine]


async def test_the_scope_follows_from_age_and_selection_alone(
    life: Life, chat: httpx.AsyncClient
) -> None:
    old = await life.say("red house", "green tree", "blue gate", "black cat", at=ago(3 * DAY))
    young = await life.say("yellow boat", "white horse", "brown dog", at=ago(HOUR))

    await forget(chat, old[0])
    await forget(chat, young[2])
    await forget_range(chat, old[1], old[2])  # wholly old
    await forget_range(chat, old[3], young[1])  # both

    scopes = {id_: record["scope"] for id_, record in (await records(chat)).items()}
    both, context = "context_and_memory", "context_only"
    assert scopes == {
        old[0]: context,
        young[2]: both,
        old[1]: both,
        old[2]: both,
        old[3]: context,
        young[0]: both,
        young[1]: both,
    }
    refused = await chat.post(f"/api/messages/{young[0]}/forget", json={"scope": context})
    assert (await records(chat))[young[0]]["scope"] == both, refused.text


@pytest.mark.spec("FLAG-07")
async def test_flagging_twice_is_flagging_once(life: Life, chat: httpx.AsyncClient) -> None:
    one, two = await life.say("red house", "green tree", at=ago(HOUR))
    await forget(chat, one)
    before = (await records(chat))[one]

    again = await forget(chat, one)
    ranged = (await forget_range(chat, one, two)).json()

    assert (again["changed"], again["candidate_ids"]) == ([], [])
    assert (await records(chat))[one] == before
    assert ranged["changed"] == [two]


@pytest.mark.spec("FLAG-05", "FLAG-10")
async def test_a_range_is_one_record_and_a_long_one_is_asked_of(
    life: Life, chat: httpx.AsyncClient
) -> None:
    said = await life.say("red house", "green tree", "blue gate", "black cat", at=ago(HOUR))

    short = (await forget_range(chat, said[0], said[1], confirmed=False)).json()
    asked = await forget_range(chat, said[1], said[3], confirmed=False)
    unchanged = await records(chat)
    long = (await forget_range(chat, said[1], said[3])).json()

    assert short["changed"] == said[:2]
    assert asked.status_code == 409
    assert asked.json()["detail"] == "Mark 3 messages as not worth remembering?"
    assert not unchanged[said[3]]["is_flagged"]
    assert long["changed"] == said[2:]
    range_ = (await chat.get(f"/api/ranges/{long['range_id']}")).json()
    assert range_.keys() >= {
        "range_id",
        "conversation_id",
        "persona_id",
        "message_ids",
        "created_at",
        "created_by",
    }
    assert (range_["persona_id"], range_["message_ids"]) == ("ada", said[1:])
    found = await records(chat)
    assert [found[id_]["range_id"] for id_ in said] == [short["range_id"]] * 2 + [
        long["range_id"]
    ] * 2


async def test_a_range_of_what_is_not_in_the_conversation_is_refused(
    life: Life, chat: httpx.AsyncClient
) -> None:
    (said,) = await life.say("red house", at=ago(HOUR))

    refused = [await forget_range(chat, said, "nothing"), await forget_range(chat, "no", said)]

    assert [response.status_code for response in refused] == [400, 400]
    assert not (await records(chat))[said]["is_flagged"]


@pytest.mark.spec("FLAG-06")
async def test_a_range_over_several_personas_is_one_and_reaches_only_those_in_it(
    life: Life, chat: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    admin = await new_caller(life.tenant_id)
    for name in ("bob", "cara"):
        await admin.post("/api/personas", json={"id": name, "name": name})
    monday = {"id": "all", "instance_id": "studio", "persona_ids": ["ada", "bob", "cara"]}
    await admin.post("/api/conversations", json=monday)
    messages = [
        {
            "message_id": f"to-{name}-{place}",
            "persona_id": name,
            "role": "user",
            "content": "ok",
            "timestamp": (ago(5 * DAY) + timedelta(minutes=place)).isoformat(),
        }
        for place, name in enumerate(("ada", "bob", "cara", "ada"))
    ]
    await admin.post("/api/conversations/all/messages", json={"messages": messages})
    # Of each persona one that waits and one that is remembered, all of the first message too.
    drawn = {
        "ada": ["to-ada-0"],
        "bob": ["to-bob-1", "to-ada-0"],
        "cara": ["to-cara-2", "to-ada-0"],
    }
    for kind in ("memory", "candidate"):
        for name, sources in drawn.items():
            result = {
                "candidate_id": f"{name}-{kind}",
                "memory_type": "episodic",
                "text": f"{kind} of {name}, and of nobody else.",
                "source_message_ids": sources,
            }
            made = await admin.post(f"/api/personas/{name}/candidates", json=result)
            assert made.status_code == 201, made.text
            if kind == "memory":
                await run_night(
                    life.graph,
                    life.tenant_id,
                    name,
                    now=ago(-3 * DAY),
                    started_by="test",
                )

    async def touched() -> dict[str, Any]:
        rows = await life.ask(
            """
            MATCH (i:Candidate|Memory {tenant_id: $t})
            RETURN i.id AS id, CASE WHEN i:Memory THEN i.weight_modifier ELSE i.state END AS now"""
        )
        return {row["id"]: row["now"] for row in rows}

    before = await touched()
    ends = {"first_message_id": "to-ada-0", "last_message_id": "to-bob-1"}
    result = (await chat.post("/api/conversations/all/forget-range", json=ends)).json()

    range_ = (await chat.get(f"/api/ranges/{result['range_id']}")).json()
    assert (range_["persona_ids"], range_["message_ids"]) == (["ada", "bob"], result["changed"])
    assert await touched() == {
        "ada-memory": 0.2,
        "ada-candidate": "suppressed",
        "bob-memory": 0.2,
        "bob-candidate": "suppressed",
        "cara-memory": 1.0,
        "cara-candidate": "pending",
    }
    assert (len(result["memory_ids"]), len(result["candidate_ids"])) == (2, 2)
    await chat.post(f"/api/ranges/{result['range_id']}/undo", json={"message_ids": ["to-bob-1"]})
    assert (await touched())["bob-memory"] == 1.0  # the flag that is left is ada's
    await chat.post(f"/api/ranges/{result['range_id']}/undo", json={})
    assert await touched() == before


@pytest.mark.spec("CAND-05", "UNDO-04")
async def test_a_suppressed_candidate_is_passed_over_kept_and_can_be_restored(
    life: Life, chat: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    admin = await new_caller(life.tenant_id)
    (said,) = await life.say("The red house by the river burned down.", at=ago(3 * DAY))
    (candidate,) = await life.candidates()
    result = await forget(chat, said)

    night = await life.night(ago(DAY))
    (kept,) = await life.candidates(CandidateState.SUPPRESSED)
    await take_back(chat, said)
    (passed,) = await life.candidates(CandidateState.PASSED_OVER)
    await life.night(ago(timedelta()))
    still_none = await life.memories()
    restored = await admin.post(f"/api/candidates/{candidate.candidate_id}/restore")
    again = await admin.post(f"/api/candidates/{candidate.candidate_id}/restore")
    await life.night(ago(-DAY))

    assert result["candidate_ids"] == [candidate.candidate_id]
    assert night.stages[0].did == {"passed_over": 1}
    assert night.stages[0].could_not == {"suppressed": 1}
    assert (kept.candidate_id, kept.deprioritized) == (candidate.candidate_id, True)
    assert kept.deprioritized_at is not None
    assert (passed.deprioritized, passed.deprioritized_at) == (False, None)
    assert still_none == []
    assert (restored.status_code, restored.json()["state"]) == (200, "pending")
    assert again.status_code == 409
    assert [memory.memory_id for memory in await life.memories()] == [candidate.candidate_id]


@pytest.mark.spec("CAND-06", "UNDO-03")
async def test_a_candidate_of_several_messages_comes_back_when_none_is_flagged(
    life: Life, chat: httpx.AsyncClient
) -> None:
    one, two = await life.say("ok", "thanks", at=ago(HOUR))
    both = await life.propose("Sam is polite.", at=ago(HOUR), sources=[one, two])
    alone = await life.propose("Sam says ok.", at=ago(HOUR), sources=[one])

    async def states() -> dict[str, CandidateState]:
        return {
            candidate.candidate_id: state
            for state in CandidateState
            for candidate in await life.candidates(state)
        }

    pending, suppressed = CandidateState.PENDING, CandidateState.SUPPRESSED
    await forget(chat, two)
    assert await states() == {both: suppressed, alone: pending}
    await forget(chat, one)
    assert await states() == {both: suppressed, alone: suppressed}
    await take_back(chat, two)
    assert await states() == {both: suppressed, alone: suppressed}
    await take_back(chat, one)
    assert await states() == {both: pending, alone: pending}


async def test_a_message_flagged_before_anything_was_drawn_from_it_is_suppressed_too(
    life: Life, chat: httpx.AsyncClient
) -> None:
    said = {
        "message_id": "quick",
        "persona_id": "ada",
        "role": "user",
        "content": "The red house by the river burned down.",
        "timestamp": ago(HOUR).isoformat(),
    }
    await chat.post("/api/conversations/monday/messages", json={"messages": [said]})
    await forget(chat, "quick")

    await life.say("Something else about a green tree.", at=ago(HOUR))  # draws from both

    (kept,) = await life.candidates(CandidateState.SUPPRESSED)
    assert kept.source_message_ids == ["quick"]


@pytest.mark.spec("FLAG-04", "UNDO-03")
async def test_memories_and_their_outgoing_links_are_turned_down_and_nothing_is_cut(
    life: Life, chat: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    admin = await new_caller(life.tenant_id)
    said = await life.say("The red house burned down.", "A green tree fell.", at=ago(5 * DAY))
    await life.night(ago(3 * DAY))
    memories = {memory.source_message_ids[0]: memory.memory_id for memory in await life.memories()}
    one, two = memories[said[0]], memories[said[1]]
    for source, target in ((one, two), (two, one)):
        await admin.post(
            f"/api/memories/{source}/links", json={"to_id": target, "type": LinkType.ENABLES}
        )
    before = await life.everything()

    result = await forget(chat, said[0])

    weights = {(link.from_id, link.to_id): link.weight_modifier for link in await life.links()}
    assert {key: weights[key] for key in ((one, two), (two, one))} == {
        (one, two): 0.2,
        (two, one): 1.0,
    }
    assert (await life.memory(one)).weight_modifier == 0.2
    assert (await life.memory(two)).weight_modifier == 1.0
    assert (result["memory_ids"], result["counts"]["links"]) == ([one], 2)
    assert {(link["from_id"], link["type"], link["to_id"]) for link in result["links"]} == {
        (link.from_id, link.type, link.to_id) for link in await life.links() if link.from_id == one
    }
    after = await life.everything()
    assert {key for key in after if " " in key and not key.startswith("[")} >= {
        key for key in before if " " in key and not key.startswith("[")
    }

    await take_back(chat, said[0])
    assert comparable(await life.everything()) == comparable(before)


def comparable(everything: dict[str, Any]) -> dict[str, Any]:
    """Without flags, events and their notes on messages: what a flag was about is as it was.

    Checkpoints keep what summed them up before.
    """
    return {
        key: {name: stored for name, stored in value.items() if name not in NOTES}
        for key, value in everything.items()
        if not any(
            word in key
            for word in (
                "Checkpoint",
                "HAD",
                "Summary",
                "Flag",
                "FLAGS",
                "Event",
                "ABOUT",
                "Range",
                "Acknowledgment",
                "ACKNOWLEDGED",
            )
        )
    }


NOTES = ("flagged", "flag_id", "events")


@pytest.mark.spec("UNDO-03")
async def test_two_flags_over_one_memory_compose_and_come_off_in_any_order(
    life: Life, chat: httpx.AsyncClient
) -> None:
    said = await life.say("ok", "thanks", "bye", at=ago(5 * DAY))
    memory_id = await life.propose("Sam is polite.", at=ago(5 * DAY), sources=said)
    await life.night(ago(3 * DAY))

    async def weight() -> float:
        return (await life.memory(memory_id)).weight_modifier

    await forget(chat, said[0])
    first = await weight()
    ranged = (await forget_range(chat, said[1], said[2])).json()
    second = await weight()
    await take_back(chat, said[0])
    third = await weight()
    part = await chat.post(
        f"/api/ranges/{ranged['range_id']}/undo", json={"message_ids": [said[1]]}
    )
    fourth = await weight()
    await chat.post(f"/api/ranges/{ranged['range_id']}/undo", json={})

    assert [first, second, third, fourth] == pytest.approx([0.2, 0.04, 0.2, 0.2])
    assert part.json()["changed"] == [said[1]]
    assert await weight() == 1.0


@pytest.mark.spec("UNDO-01", "UNDO-02")
async def test_the_chat_undoes_within_its_window_and_the_memory_manager_at_any_time(
    life: Life, chat: httpx.AsyncClient
) -> None:
    one, two = await life.say("red house", "green tree", at=ago(HOUR))
    toast = {"source": "undo_toast"}
    await forget(chat, one)
    at_once = await chat.post(f"/api/messages/{one}/undo", json=toast)
    await forget(chat, two)
    await life.ask(
        "MATCH (f:Flag {tenant_id: $t}) SET f.flagged_at = f.flagged_at - duration('PT8S')"
    )

    late = await chat.post(f"/api/messages/{two}/undo", json=toast)
    still = (await records(chat))[two]["is_flagged"]
    later = await chat.post(f"/api/messages/{two}/undo", json={"source": "memory_manager"})

    assert at_once.json()["records"][one]["reversal_source"] == "undo_toast"
    assert (late.status_code, "Memory Manager" in late.json()["detail"]) == (409, True)
    assert still
    assert later.json()["records"][two]["reversal_source"] == "memory_manager"
    found = await records(chat)
    assert [found[message_id]["is_flagged"] for message_id in (one, two)] == [False, False]
    assert all(found[message_id]["reversed_at"] for message_id in (one, two))
    again = await forget(chat, one)  # a flag can be set anew, and the old one is kept
    assert again["changed"] == [one]
    flags = await life.ask("MATCH (f:Flag {tenant_id: $t}) RETURN count(f) AS flags")
    assert flags[0]["flags"] == 3


@pytest.mark.spec("FLAG-11")
async def test_overlapping_ranges_at_once_leave_one_consistent_record(
    life: Life, chat: httpx.AsyncClient
) -> None:
    said = await life.say(*(f"story number {place}" for place in range(30)), at=ago(HOUR))

    answers = await asyncio.gather(
        *(forget_range(chat, said[at], said[at + 14]) for at in (0, 5, 10, 15)),
        *(chat.post(f"/api/messages/{said[at]}/undo", json={}) for at in (3, 12, 20)),
    )

    assert {answer.status_code for answer in answers} == {200}
    rows = await life.ask(
        """
        MATCH (m:Message {tenant_id: $t})
        RETURN m.id AS id, coalesce(m.flagged, false) AS flagged,
          COUNT { (m)<-[:FLAGS]-(f:Flag) WHERE f.reversed_at IS NULL } AS live,
          [(m)<-[:DRAWN_FROM]-(c:Candidate) | c.state] AS states"""
    )
    for row in rows:
        assert row["live"] == row["flagged"], row
        assert set(row["states"]) <= {"suppressed" if row["flagged"] else "pending"}, row


async def test_who_cannot_see_the_instance_cannot_flag_in_it(
    life: Life, chat: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    (said,) = await life.say("red house", at=ago(HOUR))
    ranged = (await forget_range(chat, said, said)).json()
    outsider = await new_caller(life.tenant_id, Role.USER, "mia")
    before = await life.everything()

    answers = [
        await outsider.post(f"/api/messages/{said}/forget"),
        await outsider.post("/api/messages/nothing/forget"),
        await outsider.post(f"/api/messages/{said}/undo", json={}),
        await forget_range(outsider, said, said),
        await outsider.get(f"/api/ranges/{ranged['range_id']}"),
        await outsider.post(f"/api/ranges/{ranged['range_id']}/undo", json={}),
    ]

    assert [answer.status_code for answer in answers] == [404] * 6
    assert await life.everything() == before


async def acknowledged(life: Life) -> list[dict[str, Any]]:
    return await life.ask(
        """
        MATCH (a:Acknowledgment {tenant_id: $t})
        RETURN a.text AS text, a.plural AS plural, a.withdrawn_at IS NOT NULL AS withdrawn"""
    )


@pytest.mark.spec("ACK-03")
async def test_flags_of_a_burst_share_one_acknowledgment_that_turns_plural(
    life: Life, chat: httpx.AsyncClient
) -> None:
    one, two, three = await life.say("red house", "green tree", "blue gate", at=ago(HOUR))

    first = (await forget(chat, one))["acknowledgment"]
    again = (await forget(chat, one))["acknowledgment"]
    second = (await forget(chat, two))["acknowledgment"]
    undone = await take_back(chat, two)
    await life.ask(
        "MATCH (a:Acknowledgment {tenant_id: $t}) SET a.last_at = a.last_at - duration('PT31S')"
    )
    later = (await forget(chat, three))["acknowledgment"]

    assert (first["plural"], first["persona_id"]) == (False, "ada")
    assert first["text"] in TEMPLATES[Tone.WARM]["single"]
    assert again is None
    assert second["acknowledgment_id"] == first["acknowledgment_id"]
    assert second["text"] in TEMPLATES[Tone.WARM]["several"]
    assert undone["acknowledgment"] is None
    assert later["acknowledgment_id"] != first["acknowledgment_id"]
    assert len(await acknowledged(life)) == 2


@pytest.mark.spec("ACK-01", "UNDO-05")
async def test_a_range_is_acknowledged_in_one_and_what_is_undone_is_withdrawn(
    life: Life, chat: httpx.AsyncClient
) -> None:
    said = await life.say("red house", "green tree", "blue gate", "black cat", at=ago(HOUR))

    result = (await forget_range(chat, said[0], said[2])).json()
    part = await chat.post(f"/api/ranges/{result['range_id']}/undo", json={"message_ids": said[:2]})
    half = await acknowledged(life)
    whole = await chat.post(f"/api/ranges/{result['range_id']}/undo", json={})

    assert result["acknowledgment"]["text"] in TEMPLATES[Tone.WARM]["range"]
    assert (part.json()["acknowledgment"], whole.json()["acknowledgment"]) == (None, None)
    assert [acknowledgment["withdrawn"] for acknowledgment in half] == [False]
    assert [acknowledgment["withdrawn"] for acknowledgment in await acknowledged(life)] == [True]
    fresh = (await forget(chat, said[3]))["acknowledgment"]  # the withdrawn one is not gone on with
    assert fresh["plural"] is False


@pytest.mark.spec("ACK-05")
async def test_acknowledgments_are_neither_messages_nor_memories(
    life: Life, chat: httpx.AsyncClient
) -> None:
    said = await life.say("red house", "green tree", "blue gate", at=ago(3 * DAY))
    text = (await forget(chat, said[0]))["acknowledgment"]["text"]
    ranged = (await forget_range(chat, said[0], said[2])).json()
    await life.night(ago(DAY))

    listed = (await chat.get("/api/conversations/monday/messages")).json()["items"]
    assert [message["message_id"] for message in listed] == said
    range_ = (await chat.get(f"/api/ranges/{ranged['range_id']}")).json()
    assert range_["message_ids"] == said
    everything = await life.ask("MATCH (n:Candidate|Memory {tenant_id: $t}) RETURN n.text AS text")
    assert not any(text in item["text"] for item in everything)


async def test_before_anything_is_forgotten_it_can_be_asked_what_that_would_touch(
    life: Life, chat: httpx.AsyncClient
) -> None:
    old = await life.say("The red house burned down.", "A green tree fell.", at=ago(5 * DAY))
    await life.night(ago(3 * DAY))
    young = await life.say("The blue gate is open now.", at=ago(HOUR))
    before = await life.everything()
    ends = {"first_message_id": old[0], "last_message_id": young[0], "confirmed": True}
    path, preview = "/api/conversations/monday/forget-range", {"preview": "true"}

    asked = (await chat.post(path, json=ends, params=preview)).json()
    one = (await chat.post(f"/api/messages/{old[0]}/forget", params=preview)).json()
    unchanged = await life.everything()
    done = (await chat.post(path, json=ends)).json()
    back = (await chat.post(f"/api/messages/{old[0]}/undo", json={}, params=preview)).json()

    assert unchanged == before
    assert len(asked["candidate_ids"]) == 1
    assert len(asked["memory_ids"]) == 2
    assert len(asked["links"]) >= 1
    for name in ("changed", "candidate_ids", "memory_ids", "links", "checkpoint_ids", "counts"):
        assert asked[name] == done[name]
    assert (one["changed"], len(one["memory_ids"])) == ([old[0]], 1)
    assert back["memory_ids"] == one["memory_ids"]
    assert (await records(chat))[old[0]]["is_flagged"]


@pytest.mark.spec("FLAG-08")
async def test_what_was_said_is_never_altered_and_flags_outlive_the_process(
    life: Life, chat: httpx.AsyncClient, settings: Settings
) -> None:
    said = await life.say("red house", "green tree", "blue gate", at=ago(HOUR))
    words = """
        MATCH (m:Message {tenant_id: $t})
        RETURN m.id AS id, m.content AS content, m.said_at AS at"""
    before = {
        message["id"]: (message["content"], message["at"]) for message in await life.ask(words)
    }

    await forget_range(chat, said[0], said[1])
    await take_back(chat, said[1])

    assert {
        message["id"]: (message["content"], message["at"]) for message in await life.ask(words)
    } == before
    another = Graph.open(settings)  # another process, another session, another device
    listed = await list_messages(another, life.caller, "monday", limit=10)
    await another.close()
    assert [item.deprioritization.is_flagged for item in listed.items] == [True, False, False]
