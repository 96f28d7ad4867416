"""What several people see and do with flags in one conversation, through the API alone."""

import json
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from api.app import create_app
from engine.access.models import Role, Tone
from engine.forgetting.acknowledgments import TEMPLATES
from engine.night.nights import run_night
from engine.settings import Settings
from engine.talk import selections
from engine.talk.checkpoints import make_checkpoints
from tests.api.conftest import NewCaller, a_client
from tests.api.forgetting.test_flags import DAY, HOUR, NONE, ago, chat, forget, records, take_back
from tests.lives import Life

__all__ = ["chat"]

MONDAY = "/api/conversations/monday"
BOTH, CONTEXT = "context_and_memory", "context_only"


def message(message_id: str, at: datetime, *, persona: str = "ada", **given: Any) -> dict[str, Any]:
    return {
        "message_id": message_id,
        "persona_id": persona,
        "role": "user",
        "content": f"This is what {message_id} says.",
        "timestamp": at.isoformat(),
        **given,
    }


async def post_messages(client: httpx.AsyncClient, *messages: dict[str, Any]) -> None:
    answer = await client.post(f"{MONDAY}/messages", json={"messages": list(messages)})
    assert answer.status_code == 201, answer.text


async def forget_range(client: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"{MONDAY}/forget-range", json={"confirmed": True, **body})
    assert answer.status_code == 200, answer.text
    done: dict[str, Any] = answer.json()
    return done


async def undo_range(client: httpx.AsyncClient, range_id: str, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"/api/ranges/{range_id}/undo", json=body)
    assert answer.status_code == 200, answer.text
    done: dict[str, Any] = answer.json()
    return done


async def listed(client: httpx.AsyncClient, conversation: str = "monday") -> list[str]:
    """The ids of a conversation's messages, read two at a time."""
    ids: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        path = f"/api/conversations/{conversation}/messages"
        part = (await client.get(path, params=query)).json()
        ids += [item["message_id"] for item in part["items"]]
        if part["next_cursor"] is None:
            return ids
        query["cursor"] = part["next_cursor"]


@pytest.fixture
async def staff(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    return await new_caller(life.tenant_id)


@pytest.fixture
async def mia(life: Life, staff: httpx.AsyncClient, new_caller: NewCaller) -> httpx.AsyncClient:
    """Another member."""
    await staff.put("/api/instances/studio/members/mia", json={})
    return await new_caller(life.tenant_id, Role.USER, "mia")


@pytest.fixture
async def boss(life: Life, staff: httpx.AsyncClient, new_caller: NewCaller) -> httpx.AsyncClient:
    """An admin of the instance."""
    await staff.put("/api/instances/studio/members/ines", json={"role": "admin"})
    return await new_caller(life.tenant_id, Role.USER, "ines")


@pytest.mark.spec("FLAG-05")
async def test_messages_of_one_second_stand_in_the_order_they_arrived(
    life: Life, chat: httpx.AsyncClient, staff: httpx.AsyncClient
) -> None:
    at = ago(HOUR)
    await post_messages(staff, *(message(name, at) for name in ("z", "a", "m", "b")))
    await post_messages(staff, message("late", at), message("before", at - HOUR), message("a", at))
    order = ["before", "z", "a", "m", "b", "late"]

    done = await forget_range(chat, first_message_id="m", last_message_id="a")
    range_ = (await chat.get(f"/api/ranges/{done['range_id']}")).json()
    query = {"first_message_id": "m", "last_message_id": "a"}
    exported = (await staff.get(f"{MONDAY}/export", params=query)).text.splitlines()
    split = await staff.post(
        f"{MONDAY}/split",
        json={"first_message_id": "a", "last_message_id": "b", "id": "part"},
    )

    assert await listed(chat) == order
    assert (done["changed"], range_["message_ids"]) == (["a", "m"], ["a", "m"])
    assert [id_ for id_, record in (await records(chat)).items() if record["is_flagged"]] == [
        "a",
        "m",
    ]
    assert [json.loads(line)["message_id"] for line in exported] == ["a", "m"]
    copies = split.json()["message_ids"]
    assert await listed(staff, "part") == [copies[name] for name in ("a", "m", "b")]
    one = await forget_range(chat, first_message_id="late", last_message_id="late")
    assert one["changed"] == ["late"]


@pytest.mark.spec("FLAG-05")
async def test_a_selection_is_any_messages_of_the_conversation(
    life: Life, chat: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = await life.say("red house", "green tree", "blue gate", "black cat", at=ago(HOUR))
    chosen = {"message_ids": [said[3], said[0], said[2], said[0]]}
    other = {"first_message_id": said[0], "last_message_id": said[3]}

    async def refused(**body: Any) -> int:
        return (await chat.post(f"{MONDAY}/forget-range", json=body)).status_code

    asked = await chat.post(f"{MONDAY}/forget-range", json=chosen)
    odd = [
        await refused(**chosen, **other, confirmed=True),
        await refused(message_ids=[said[0], "nothing"], confirmed=True),
        await refused(message_ids=[], confirmed=True),
        await refused(first_message_id=said[0], confirmed=True),
        await refused(confirmed=True),
    ]
    with monkeypatch.context() as smaller:
        smaller.setattr(selections, "MAX_SELECTED", 2)
        odd += [await refused(**chosen, confirmed=True), await refused(**other, confirmed=True)]
    untouched = await records(chat)
    done = await forget_range(chat, **chosen)

    assert asked.status_code == 409
    assert asked.json()["detail"] == "Mark 3 messages as not worth remembering?"
    assert odd == [400] * 7
    assert all(record == NONE for record in untouched.values())
    assert done["changed"] == [said[0], said[2], said[3]]
    range_ = (await chat.get(f"/api/ranges/{done['range_id']}")).json()
    assert range_["message_ids"] == [said[0], said[2], said[3]]
    found = await records(chat)
    assert [found[message_id]["range_id"] for message_id in said] == [
        done["range_id"],
        None,
        done["range_id"],
        done["range_id"],
    ]


@pytest.mark.spec("UNDO-03", "UNDO-02")
async def test_undoing_a_range_takes_back_the_flags_it_set_and_no_other(
    life: Life, chat: httpx.AsyncClient, mia: httpx.AsyncClient
) -> None:
    said = await life.say("red house", "green tree", "blue gate", "black cat", at=ago(HOUR))
    await forget(chat, said[1])
    await life.ask(
        "MATCH (f:Flag {tenant_id: $t}) SET f.flagged_at = f.flagged_at - duration('PT10M')"
    )
    older = (await records(chat))[said[1]]
    first = await forget_range(chat, first_message_id=said[0], last_message_id=said[2])

    at_once = await undo_range(chat, first["range_id"], source="undo_toast")
    after = await records(chat)
    second = await forget_range(chat, first_message_id=said[0], last_message_id=said[3])
    part = await undo_range(chat, second["range_id"], message_ids=[said[0], said[1]])
    await forget(chat, said[0])  # anew, by another act
    await take_back(chat, said[3])
    await forget(mia, said[3])  # by somebody else
    rest = await undo_range(chat, second["range_id"])
    again = await undo_range(chat, second["range_id"])

    assert first["changed"] == at_once["changed"] == [said[0], said[2]]
    assert (after[said[1]], older["is_flagged"]) == (older, True)
    assert [after[message_id]["is_flagged"] for message_id in said] == [False, True, False, False]
    assert part["changed"] == [said[0]]
    assert (rest["changed"], again["changed"]) == ([said[2]], [])
    found = await records(chat)
    assert [found[message_id]["is_flagged"] for message_id in said] == [True, True, False, False]
    assert found[said[1]] == older
    assert (await records(mia))[said[3]]["is_flagged"]


@pytest.mark.spec("FLAG-02")
async def test_a_message_of_either_role_is_flagged_and_nothing_beside_it(
    life: Life, chat: httpx.AsyncClient, staff: httpx.AsyncClient
) -> None:
    at = ago(HOUR)
    await post_messages(
        staff,
        message("asked", at),
        message("answered", at + timedelta(seconds=1), role="persona", reply_to="asked"),
        message("asked-again", at + timedelta(seconds=2), reply_to="answered"),
        message("answered-again", at + timedelta(seconds=3), role="persona"),
    )

    async def flagged() -> list[str]:
        return [id_ for id_, record in (await records(chat)).items() if record["is_flagged"]]

    assert (await forget(chat, "asked"))["changed"] == ["asked"]
    assert await flagged() == ["asked"]
    assert (await forget(chat, "answered-again"))["changed"] == ["answered-again"]
    assert await flagged() == ["asked", "answered-again"]
    assert (await records(chat))["answered-again"]["scope"] == BOTH


@pytest.mark.spec("FLAG-03")
async def test_the_system_decides_the_scope_by_the_policy_and_the_whole_selection(
    life: Life, chat: httpx.AsyncClient, staff: httpx.AsyncClient
) -> None:
    old = await life.say("red house", "green tree", "blue gate", "a pond", at=ago(30 * HOUR))
    young = await life.say("yellow boat", "white horse", "brown dog", at=ago(HOUR))

    async def scope(message_id: str) -> Any:
        return (await records(chat))[message_id]["scope"]

    await forget(chat, old[0])
    await forget(chat, young[0])
    await forget_range(
        chat, first_message_id=old[3], last_message_id=young[0]
    )  # young one: flagged
    assert [await scope(message_id) for message_id in (old[0], young[0], old[3])] == [
        CONTEXT,
        BOTH,
        CONTEXT,
    ]
    await forget_range(chat, message_ids=[old[1], old[2]])  # wholly old
    await forget_range(chat, message_ids=[young[1], young[2]])  # wholly young
    for message_id in (old[1], old[2], young[1], young[2]):
        assert await scope(message_id) == BOTH
        await take_back(chat, message_id)
    mixed = await forget_range(chat, message_ids=[old[1], young[1]])
    assert [await scope(message_id) for message_id in (old[1], young[1])] == [CONTEXT, BOTH]
    await undo_range(chat, mixed["range_id"])

    policy = {"figures": {"editing_window_hours": 48}}
    changed = await staff.put("/api/personas/ada/policy", json=policy)
    assert changed.status_code == 200, changed.text
    await forget(chat, old[1])
    await forget_range(chat, message_ids=[old[2], young[1]])
    assert [await scope(message_id) for message_id in (old[1], old[2], young[1])] == [BOTH] * 3
    # The caller has no say in it.
    answers = [
        await chat.post(f"{MONDAY}/forget-range", json={"message_ids": [old[0]], "scope": BOTH}),
        await chat.post(f"/api/messages/{old[0]}/forget", params={"scope": BOTH}),
    ]
    assert answers[0].status_code == 400
    assert await scope(old[0]) == CONTEXT


@pytest.mark.spec("FLAG-06", "UNDO-03")
async def test_each_persona_minimizes_by_its_own_policy_and_what_was_done_is_undone_exactly(
    life: Life, chat: httpx.AsyncClient, staff: httpx.AsyncClient
) -> None:
    await staff.post("/api/personas", json={"id": "bob", "name": "Bob"})
    both = {"id": "both", "instance_id": "studio", "persona_ids": ["ada", "bob"]}
    await staff.post("/api/conversations", json=both)
    at = ago(5 * DAY)
    sent = [message("to-ada", at), message("to-bob", at, persona="bob"), message("more", at)]
    await staff.post("/api/conversations/both/messages", json={"messages": sent})
    for name, kind, sources in (
        ("ada", "episodic", ["to-ada", "more"]),
        ("ada", "semantic", ["to-ada"]),
        ("bob", "episodic", ["to-bob"]),
    ):
        item = {
            "candidate_id": f"{name}-{kind}",
            "memory_type": kind,
            "text": f"The {kind} one of {name}.",
            "source_message_ids": sources,
        }
        await staff.post(f"/api/personas/{name}/candidates", json=item)
    for name in ("ada", "bob"):
        await run_night(
            life.graph,
            life.tenant_id,
            name,
            now=ago(-3 * DAY),
            started_by="test",
        )

    async def set_factors(ada: dict[str, Any], bob: dict[str, Any]) -> None:
        for name, layer in (("ada", ada), ("bob", bob)):
            answer = await staff.put(f"/api/personas/{name}/policy", json=layer)
            assert answer.status_code == 200, answer.text

    async def weights() -> list[float]:
        return [
            (await staff.get(f"/api/memories/{name}")).json()["weight_modifier"]
            for name in ("ada-episodic", "ada-semantic", "bob-episodic")
        ]

    await set_factors(
        {"figures": {"minimize_factor": 0.5}, "types": {"semantic": {"minimize_factor": 0.1}}},
        {"figures": {"minimize_factor": 0.3}},
    )
    path = "/api/conversations/both/forget-range"
    done = (await chat.post(path, json={"message_ids": ["to-ada", "to-bob"]})).json()
    assert await weights() == pytest.approx([0.5, 0.1, 0.3])
    # From here on a flag leaves something else; what was done stays what it was.
    await set_factors({"figures": {"minimize_factor": 0.8}}, {"figures": {"minimize_factor": 0.9}})
    await forget(chat, "more")
    assert await weights() == pytest.approx([0.5 * 0.8, 0.1, 0.3])
    await staff.post("/api/memories/ada-semantic/minimize", json={"weight_modifier": 0.5})
    await undo_range(chat, done["range_id"], message_ids=["to-bob"])
    assert await weights() == pytest.approx([0.4, 0.05, 1.0])
    await take_back(chat, "more")
    assert await weights() == pytest.approx([0.5, 0.05, 1.0])
    await undo_range(chat, done["range_id"])
    await staff.post("/api/memories/ada-semantic/restore")
    assert await weights() == [1.0, 1.0, 1.0]


@pytest.mark.spec("NAV-06")
async def test_nothing_tells_a_member_what_another_has_flagged(
    life: Life,
    chat: httpx.AsyncClient,
    mia: httpx.AsyncClient,
    boss: httpx.AsyncClient,
    staff: httpx.AsyncClient,
) -> None:
    said = await life.say("red house", "green tree", "blue gate", at=ago(HOUR))
    done = await forget_range(chat, message_ids=said[:2])
    range_id = done["range_id"]
    own = await records(chat)

    async def everything_seen_by(client: httpx.AsyncClient) -> list[Any]:
        preview = {"preview": "true"}
        ids = {"message_ids": said[:2], "confirmed": True}
        shown = (await client.get(f"{MONDAY}/messages")).json()["items"]
        exported = (await client.get(f"{MONDAY}/export")).text.splitlines()
        answers = [
            await client.post(f"/api/messages/{said[0]}/forget"),
            await client.post(f"/api/messages/{said[0]}/forget", params=preview),
            await client.post(f"{MONDAY}/forget-range", json=ids, params=preview),
            await client.post(f"{MONDAY}/forget-range", json=ids),
        ]
        return [
            [item["deprioritization"] for item in shown],
            [
                message["deprioritization"]
                for message in map(json.loads, exported)
                if "message_id" in message
            ],
            [list(answer.json()["records"].values()) for answer in answers],
            [answer.json()["changed"] for answer in answers],
            [item["can_forget"] for item in shown],
        ]

    flagged = [own[message_id] for message_id in said]
    for client in (chat, boss, staff):
        assert await everything_seen_by(client) == [
            flagged,
            flagged,
            [flagged[:1], flagged[:1], flagged[:2], flagged[:2]],
            [[]] * 4,
            [False, False, True],
        ]
        assert (await client.get(f"/api/ranges/{range_id}")).json()["created_by"] == "sam"
    assert await everything_seen_by(mia) == [
        [NONE] * 3,
        [NONE] * 3,
        [[NONE], [NONE], [NONE] * 2, [NONE] * 2],
        [[]] * 4,
        [True] * 3,
    ]
    there = await mia.get(f"/api/ranges/{range_id}")
    nowhere = await mia.get("/api/ranges/nothing")
    assert (there.status_code, nowhere.status_code) == (404, 404)
    assert there.json()["detail"].replace(range_id, "nothing") == nowhere.json()["detail"]


@pytest.mark.spec("NAV-06")
async def test_with_badges_for_the_conversation_every_member_sees_them(
    life: Life, chat: httpx.AsyncClient, mia: httpx.AsyncClient, settings: Settings
) -> None:
    said = await life.say("red house", "green tree", at=ago(HOUR))
    done = await forget_range(chat, message_ids=said)
    own = await records(chat)
    app = create_app(settings.model_copy(update={"badge_visibility": "conversation"}))
    async with app.lifespan(), a_client(app) as open_to_all:
        open_to_all.headers.update(mia.headers)

        assert await records(open_to_all) == own
        assert (await forget(open_to_all, said[0]))["records"] == {said[0]: own[said[0]]}
        range_ = await open_to_all.get(f"/api/ranges/{done['range_id']}")
        assert range_.json()["message_ids"] == said
        # To see a flag is not to take it back.
        assert (await take_back(open_to_all, said[0]))["changed"] == []
        assert (await undo_range(open_to_all, done["range_id"]))["changed"] == []
        exported = (await open_to_all.get(f"{MONDAY}/export")).text.splitlines()
        assert [json.loads(line)["deprioritization"] for line in exported] == [
            own[message_id] for message_id in said
        ]


async def test_a_flag_is_taken_back_by_who_set_it_by_admins_and_by_staff(
    life: Life,
    chat: httpx.AsyncClient,
    mia: httpx.AsyncClient,
    boss: httpx.AsyncClient,
    staff: httpx.AsyncClient,
) -> None:
    one, two, three = await life.say("red house", "green tree", "blue gate", at=ago(HOUR))
    await forget(chat, one)
    ranged = await forget_range(chat, message_ids=[two])

    def without_id(done: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in done.items() if name != "message_id"}

    for source in ("memory_manager", "undo_toast"):
        tried = await mia.post(f"/api/messages/{one}/undo", json={"source": source})
        unflagged = await mia.post(f"/api/messages/{three}/undo", json={"source": source})
        assert tried.status_code == unflagged.status_code == 200
        assert without_id(tried.json()) == without_id(unflagged.json())
        foreign = await mia.post(f"/api/ranges/{ranged['range_id']}/undo", json={"source": source})
        assert foreign.status_code == 404
    assert [record["is_flagged"] for record in (await records(chat)).values()] == [
        True,
        True,
        False,
    ]

    assert (await take_back(boss, one))["changed"] == [one]
    assert (await undo_range(staff, ranged["range_id"]))["changed"] == [two]
    await forget(chat, one)
    assert (await take_back(staff, one))["changed"] == [one]
    await forget(mia, one)
    assert (await take_back(chat, one))["changed"] == []
    assert (await take_back(mia, one))["changed"] == [one]


@pytest.mark.spec("FLAG-09")
async def test_what_cannot_be_seen_cannot_be_flagged_and_listings_say_what_can(
    life: Life, chat: httpx.AsyncClient, mia: httpx.AsyncClient, new_caller: NewCaller
) -> None:
    said = await life.say("red house", "green tree", at=ago(HOUR))
    outsider = await new_caller(life.tenant_id, Role.USER, "nobody")
    analyst = await new_caller(life.tenant_id, Role.ANALYST)
    await forget(chat, said[0])
    before = await life.everything()

    async def answers(message_id: str, conversation: str) -> list[tuple[int, str]]:
        ends = {"first_message_id": message_id, "last_message_id": message_id}
        where = f"/api/conversations/{conversation}"
        given = [
            await outsider.post(f"/api/messages/{message_id}/forget"),
            await outsider.post(f"/api/messages/{message_id}/forget", params={"preview": "true"}),
            await outsider.post(f"/api/messages/{message_id}/undo", json={}),
            await outsider.post(f"{where}/forget-range", json=ends),
            await outsider.post(f"{where}/forget-range", json={"message_ids": [message_id]}),
            await outsider.get(f"{where}/messages"),
            await outsider.get(f"{where}/events"),
        ]
        return [
            (
                response.status_code,
                response.json()["detail"].replace(message_id, "?").replace(conversation, "?"),
            )
            for response in given
        ]

    there, nowhere = await answers(said[0], "monday"), await answers("nothing", "nowhere")
    assert there == nowhere
    assert {status for status, _ in there} == {404}
    refused = await analyst.post(f"/api/messages/{said[1]}/forget")
    assert refused.status_code == 403
    assert await life.everything() == before

    async def may_forget(client: httpx.AsyncClient) -> list[bool]:
        items = (await client.get(f"{MONDAY}/messages")).json()["items"]
        return [item["can_forget"] for item in items]

    assert await may_forget(chat) == [False, True]
    assert await may_forget(mia) == [True, True]
    assert await may_forget(analyst) == [False, False]
    for place, client in ((1, chat), (0, mia), (1, mia)):
        assert (await client.post(f"/api/messages/{said[place]}/forget")).status_code == 200


@pytest.mark.spec("NAV-05")
async def test_an_export_annotates_what_may_be_seen_and_leaves_out_all_that_is_flagged(
    life: Life, chat: httpx.AsyncClient, mia: httpx.AsyncClient, boss: httpx.AsyncClient
) -> None:
    said = await life.say("red house", "green tree", "blue gate", "black cat", at=ago(HOUR))
    await forget(chat, said[0])
    await forget(mia, said[1])
    await forget(chat, said[2])
    await take_back(chat, said[2])

    async def export(client: httpx.AsyncClient, **query: Any) -> list[dict[str, Any]]:
        answer = await client.get(f"{MONDAY}/export", params=query)
        assert "[prior exchange deprioritized by user]" not in answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    def annotated(lines: list[dict[str, Any]]) -> list[str]:
        shown = [line for line in lines if "message_id" in line]
        assert [item["message_id"] for item in shown] == said
        return [item["message_id"] for item in shown if item["deprioritization"]["is_flagged"]]

    note = {"flags_of_others": "not shown"}
    of_sam, of_mia, of_boss = [await export(client) for client in (chat, mia, boss)]
    assert (annotated(of_sam), of_sam[-1]) == ([said[0]], note)
    assert (annotated(of_mia), of_mia[-1]) == ([said[1]], note)
    assert (annotated(of_boss), of_boss[-1]["message_id"]) == (said[:2], said[3])
    for client in (chat, mia, boss):
        *kept, count = await export(client, exclude_flagged=True)
        assert [message["message_id"] for message in kept] == said[2:]
        assert count == {"excluded": 2}
        *part, count = await export(client, exclude_flagged=True, first_message_id=said[1])
        assert ([message["message_id"] for message in part], count) == (said[2:], {"excluded": 1})
    written = await mia.get(f"{MONDAY}/export", params={"format": "markdown"})
    assert written.text.count("*not remembered*") == 1
    assert "What others have flagged is not marked." in written.text


@pytest.mark.spec("ACK-02")
async def test_a_burst_is_answered_once_by_the_persona_that_was_first_and_to_its_flagger(
    life: Life,
    chat: httpx.AsyncClient,
    mia: httpx.AsyncClient,
    staff: httpx.AsyncClient,
) -> None:
    await staff.post("/api/personas", json={"id": "bob", "name": "Bob", "tone": "formal"})
    both = {"id": "both", "instance_id": "studio", "persona_ids": ["ada", "bob"]}
    await staff.post("/api/conversations", json=both)
    at = ago(HOUR)
    warm, formal = TEMPLATES[Tone.WARM], TEMPLATES[Tone.FORMAL]
    sent = [
        # Every word of the plural templates but one's: only that one repeats nothing.
        message("to-ada", at, content=" ".join(warm["several"][1:])),
        message("to-bob", at, persona="bob", content="The red house."),
        message("of-mia", at, persona="bob", content="The green tree."),
        message("later", at, persona="bob", content="The blue gate."),
        message("last", at, persona="bob", content="The black cat."),
    ]
    await staff.post("/api/conversations/both/messages", json={"messages": sent})

    first = (await forget(chat, "to-ada"))["acknowledgment"]
    other = (await forget(mia, "of-mia"))["acknowledgment"]  # a burst of her own
    repeat = (await forget(chat, "to-ada"))["acknowledgment"]
    second = (await forget(chat, "to-bob"))["acknowledgment"]
    undone = (await take_back(chat, "to-bob"))["acknowledgment"]
    third = (await forget(chat, "to-bob"))["acknowledgment"]
    await life.ask(
        "MATCH (a:Acknowledgment {tenant_id: $t}) SET a.last_at = a.last_at - duration('PT29S')"
    )
    in_time = (await forget(chat, "later"))["acknowledgment"]
    await life.ask(
        "MATCH (a:Acknowledgment {tenant_id: $t}) SET a.last_at = a.last_at - duration('PT31S')"
    )
    late = (await forget(chat, "last"))["acknowledgment"]

    assert (first["persona_id"], first["plural"]) == ("ada", False)
    assert (other["persona_id"], other["plural"]) == ("bob", False)
    assert other["text"] in formal["single"]
    assert (repeat, undone) == (None, None)
    for again in (second, third, in_time):
        assert again["acknowledgment_id"] == first["acknowledgment_id"]
        assert (again["persona_id"], again["plural"]) == ("ada", True)
        assert again["text"] == warm["several"][0] or again["text"] == "They are so."
    assert late["acknowledgment_id"] not in (
        first["acknowledgment_id"],
        other["acknowledgment_id"],
    )
    assert late["text"] in formal["single"]


@pytest.mark.spec("FLAG-13")
async def test_every_route_that_forgets_can_be_asked_first_what_it_would_touch(
    life: Life, chat: httpx.AsyncClient, staff: httpx.AsyncClient
) -> None:
    old = await life.say("The red house burned down.", "A green tree fell.", at=ago(5 * DAY))
    await life.night(ago(3 * DAY))
    young = await life.say("The blue gate is open now.", at=ago(HOUR))
    await make_checkpoints(life.graph, life.tenant_id, "monday", now=ago(timedelta()))
    memories = {memory.source_message_ids[0]: memory.memory_id for memory in await life.memories()}
    (candidate,) = await life.candidates()
    checkpoints = (await staff.get(f"{MONDAY}/checkpoints")).json()["items"]
    covering = {
        message_id: checkpoint["checkpoint_id"]
        for checkpoint in checkpoints
        for message_id in checkpoint["message_ids"]
    }
    one = memories[old[0]]
    outgoing = [
        {"from_id": link.from_id, "to_id": link.to_id, "type": link.type}
        for link in await life.links()
        if link.from_id == one
    ]
    assert outgoing
    names = ("candidate_ids", "memory_ids", "links", "checkpoint_ids", "counts")

    async def ask(method: str, path: str, body: Any = None) -> list[Any]:
        before = await life.everything()
        options: dict[str, Any] = {"params": {"preview": "true"}}
        if body is not None:
            options["json"] = body
        answer = await staff.request(method, path, **options)
        assert answer.status_code == 200, answer.text
        assert await life.everything() == before
        return [answer.json()[name] for name in names]

    def counted(candidates: int, memories: int, links: int, checkpoints: int) -> dict[str, int]:
        return {
            "candidates": candidates,
            "memories": memories,
            "links": links,
            "checkpoints": checkpoints,
        }

    everything = {"message_ids": [old[0], young[0]], "confirmed": False}
    touched = sorted({covering[old[0]], covering[young[0]]})
    expected = [[candidate.candidate_id], [one], outgoing, touched]
    figures = counted(1, 1, len(outgoing), len(touched))
    alone = [[], [one], outgoing, [covering[old[0]]], counted(0, 1, len(outgoing), 1)]

    assert await ask("POST", f"/api/messages/{old[0]}/forget") == alone
    assert await ask("POST", f"{MONDAY}/forget-range", everything) == [*expected, figures]
    minimized = [[], [one], outgoing, [], counted(0, 1, len(outgoing), 0)]
    assert await ask("POST", f"/api/memories/{one}/minimize", {}) == minimized
    archived = await ask("POST", f"/api/memories/{one}/archive")
    assert (archived[1], archived[4]["memories"]) == ([one], 1)
    removed = [[candidate.candidate_id], [], [], [], counted(1, 0, 0, 0)]
    assert await ask("DELETE", f"/api/candidates/{candidate.candidate_id}") == removed
    done = await forget_range(staff, message_ids=[old[0], young[0]])
    assert [done[name] for name in names] == [*expected, figures]
    back = await ask("POST", f"/api/ranges/{done['range_id']}/undo", {})
    assert back == [*expected, figures]
    assert await ask("POST", f"/api/messages/{old[0]}/undo", {}) == alone
    refused = await staff.post("/api/memories/nothing/archive", params={"preview": "true"})
    assert refused.status_code == 404
