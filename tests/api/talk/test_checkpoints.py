"""Checkpoints: a conversation topic by topic, with and without what is flagged."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

import cypher
from engine.access.models import Role
from engine.talk.checkpoints import list_overdue_checkpoints, make_checkpoints
from tests.api.conftest import NewCaller
from tests.lives import Life
from tests.plans import explained, parts

HOUR, DAY = timedelta(hours=1), timedelta(days=1)

KILN = [
    "The kiln at the pottery is broken again.",
    "Helena says the kiln at the pottery needs bricks.",
    "Bricks for the kiln at the pottery cost a fortune.",
    "The pottery will have a kiln from Porto.",
]
KNEE = [
    "My mother is having her knee operation on Monday.",
    "Her knee operation is on Monday at the hospital.",
    "The hospital wants my mother there early for her knee.",
    "My mother calls the operation her knee holiday.",
]


def ago(delta: timedelta) -> datetime:
    return datetime.now(UTC).replace(microsecond=0) - delta


@pytest.fixture
async def chat(life: Life, new_caller: NewCaller) -> httpx.AsyncClient:
    """Sam, in the chat."""
    admin = await new_caller(life.tenant_id)
    await admin.put("/api/instances/studio/members/sam", json={})
    return await new_caller(life.tenant_id, Role.USER, "sam")


async def cover(life: Life, conversation_id: str = "monday") -> int:
    return await make_checkpoints(
        life.graph, life.tenant_id, conversation_id, now=datetime.now(UTC)
    )


async def checkpoints(chat: httpx.AsyncClient) -> list[dict[str, Any]]:
    answer = await chat.get("/api/conversations/monday/checkpoints")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


async def forget(chat: httpx.AsyncClient, *message_ids: str) -> None:
    for message_id in message_ids:
        answer = await chat.post(f"/api/messages/{message_id}/forget")
        assert answer.status_code == 200, answer.text


async def take_back(chat: httpx.AsyncClient, *message_ids: str) -> None:
    for message_id in message_ids:
        answer = await chat.post(f"/api/messages/{message_id}/undo", json={})
        assert answer.status_code == 200, answer.text


@pytest.mark.spec("NAV-01")
async def test_a_conversation_has_checkpoints_in_order(life: Life, chat: httpx.AsyncClient) -> None:
    morning = ago(DAY)
    kiln = await life.say("Good morning!", *KILN, at=morning)
    knee = await life.say(*KNEE, at=morning + timedelta(minutes=5))
    evening = await life.say("The tomatoes on the roof have flowers.", at=morning + 9 * HOUR)

    assert await cover(life) == 10

    found = await checkpoints(chat)
    assert [item["message_ids"] for item in found] == [kiln, knee, evening]
    assert [item["label"] for item in found] == [
        "Kiln, pottery, bricks",
        "Mother, knee operation, hospital",
        "Tomatoes, roof, flowers",
    ]
    assert [(item["from_at"], item["to_at"]) for item in found] == [
        (said(morning), said(morning + timedelta(minutes=4))),
        (said(morning + timedelta(minutes=5)), said(morning + timedelta(minutes=8))),
        (said(morning + 9 * HOUR), said(morning + 9 * HOUR)),
    ]
    lines = found[0]["summary"].splitlines()
    assert len(lines) == 3
    assert [line for line in KILN if f"Sam: {line}" in lines] == [line[5:] for line in lines]
    assert found[2]["summary"] == "Sam: The tomatoes on the roof have flowers."
    assert not any(item["muted"] or item["stale_summaries"] for item in found)


def said(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


async def test_checkpoints_come_a_page_at_a_time(life: Life, chat: httpx.AsyncClient) -> None:
    for day in (3, 2, 1):
        await life.say(KILN[day], at=ago(day * DAY))
    await cover(life)

    path, params = "/api/conversations/monday/checkpoints", {"limit": 2}
    first = (await chat.get(path, params=params)).json()
    second = (await chat.get(path, params={**params, "cursor": first["next_cursor"]})).json()
    strange = await chat.get(path, params={"cursor": "bm90LWEtdGltZXxt"})

    assert [*first["items"], *second["items"]] == await checkpoints(chat)
    assert (len(first["items"]), second["next_cursor"]) == (2, None)
    assert strange.status_code == 400


async def test_who_cannot_see_the_conversation_sees_no_checkpoints(
    life: Life, new_caller: NewCaller
) -> None:
    await life.say(*KILN, at=ago(HOUR))
    await cover(life)
    outsider = await new_caller(life.tenant_id, Role.USER, "mia")

    answer = await outsider.get("/api/conversations/monday/checkpoints")

    assert answer.status_code == 404


@pytest.mark.spec("NAV-02")
async def test_a_flag_takes_its_words_out_of_the_summary_and_undo_brings_them_back(
    life: Life, chat: httpx.AsyncClient
) -> None:
    kiln = await life.say(*KILN, at=ago(2 * DAY))
    await life.say(*KNEE, at=ago(DAY))
    await cover(life)
    before, other = await checkpoints(chat)
    shown = [id_ for id_, line in zip(kiln, KILN, strict=True) if line in before["summary"]]
    hidden = next(id_ for id_ in kiln if id_ not in shown)

    await forget(chat, shown[0])

    without, untouched = await checkpoints(chat)
    assert KILN[kiln.index(shown[0])] not in without["summary"]
    assert KILN[kiln.index(hidden)] in without["summary"]  # the next best takes its place
    assert len(without["summary"].splitlines()) == 3
    (stale,) = without["stale_summaries"]
    assert stale["text"] == before["summary"]
    assert stale["stale_at"] > stale["made_at"]
    for name in ("label", "from_at", "to_at", "message_ids", "muted"):
        assert without[name] == before[name]
    assert untouched == other

    await forget(chat, hidden, shown[0])
    await take_back(chat, hidden, shown[0])

    after, _ = await checkpoints(chat)
    assert after["summary"] == before["summary"]
    assert [stale_summary["text"] for stale_summary in after["stale_summaries"]][:2] == [
        before["summary"],
        without["summary"],
    ]


@pytest.mark.spec("NAV-03")
async def test_a_wholly_flagged_checkpoint_stays_and_is_muted(
    life: Life, chat: httpx.AsyncClient
) -> None:
    kiln = await life.say("Good morning!", *KILN, at=ago(2 * DAY))
    knee = await life.say(*KNEE, at=ago(DAY))
    await cover(life)
    before = await checkpoints(chat)

    ends = {"first_message_id": kiln[0], "last_message_id": knee[0], "confirmed": True}
    answer = await chat.post("/api/conversations/monday/forget-range", json=ends)
    assert answer.status_code == 200, answer.text
    await cover(life)

    whole, part = await checkpoints(chat)
    assert (whole["muted"], whole["summary"], part["muted"]) == (True, "", False)
    for name in ("checkpoint_id", "label", "from_at", "to_at", "message_ids"):
        assert (whole[name], part[name]) == (before[0][name], before[1][name])
    assert KNEE[0] not in part["summary"]

    range_id = answer.json()["range_id"]
    back = await chat.post(f"/api/ranges/{range_id}/undo", json={"source": "memory_manager"})
    assert back.status_code == 200, back.text
    after = await checkpoints(chat)
    assert [(checkpoint["muted"], checkpoint["summary"]) for checkpoint in after] == [
        (False, checkpoint["summary"]) for checkpoint in before
    ]


async def test_what_was_flagged_before_is_in_neither_label_nor_summary(
    life: Life, chat: httpx.AsyncClient
) -> None:
    *_, secret = await life.say(*KILN, "Helena and I kissed behind the glaze shelf.", at=ago(HOUR))
    await forget(chat, secret)

    await cover(life)

    (found,) = await checkpoints(chat)
    assert secret in found["message_ids"]
    assert not {"kissed", "glaze", "shelf"} & {*found["label"].lower().replace(",", "").split()}
    assert "kissed" not in found["summary"]
    await take_back(chat, secret)
    assert (await checkpoints(chat))[0]["label"] == found["label"]


async def test_a_label_is_made_once_there_is_enough_to_name_and_then_stays(
    life: Life, chat: httpx.AsyncClient
) -> None:
    labels = []
    for place, line in enumerate([*KILN, "The kiln is blue.", "Blue bricks, blue kiln, blue me."]):
        await life.say(line, at=ago(HOUR) + timedelta(minutes=place))
        await cover(life)
        (found,) = await checkpoints(chat)
        labels.append(found["label"])

    assert labels == [None, None, None, *["Kiln, pottery, bricks"] * 3]
    assert found["stale_summaries"] == []  # it was only growing


async def test_later_talk_leaves_earlier_checkpoints_as_they_are(
    life: Life, chat: httpx.AsyncClient
) -> None:
    start = ago(HOUR)
    kiln = await life.say(*KILN, at=start)
    await cover(life)
    (before,) = await checkpoints(chat)
    knee = []
    for place, line in enumerate([*KNEE, "My mother walks on her knee again."]):
        knee += await life.say(line, at=start + timedelta(minutes=4 + place))
        await cover(life)

    first, second = await checkpoints(chat)

    assert (first["checkpoint_id"], first["label"]) == (before["checkpoint_id"], before["label"])
    assert (first["message_ids"], second["message_ids"]) == (kiln, knee)
    assert first["summary"] == before["summary"]


async def test_a_late_message_joins_the_checkpoint_of_its_time(
    life: Life, chat: httpx.AsyncClient
) -> None:
    then = ago(3 * DAY)
    kiln = await life.say(*KILN, at=then)
    await life.say(*KNEE, at=ago(HOUR))
    await cover(life)
    before = await checkpoints(chat)

    (late,) = await life.say("The kiln at the pottery broke in May.", at=then + 2 * HOUR)
    (alone,) = await life.say("The tomatoes on the roof have flowers.", at=then + DAY)
    await cover(life)

    first, own, last = await checkpoints(chat)
    assert first["message_ids"] == [*kiln, late]
    assert (first["label"], first["from_at"]) == (before[0]["label"], before[0]["from_at"])
    assert first["to_at"] == said(then + 2 * HOUR)
    assert (own["message_ids"], own["label"]) == ([alone], "Tomatoes, roof, flowers")
    assert last == before[1]


async def test_two_at_once_put_each_message_into_one_checkpoint(
    life: Life, chat: httpx.AsyncClient
) -> None:
    for day in range(9, 0, -1):
        await life.say(*KILN, *KNEE, at=ago(day * DAY))

    counts = await asyncio.gather(*(cover(life) for _ in range(4)))

    assert sorted(counts) == [0, 0, 0, 72]
    rows = await life.ask(
        """
        MATCH (m:Message {tenant_id: $t})
        RETURN COUNT { (m)<-[:COVERS]-() } AS covered, m.uncovered_since AS waiting"""
    )
    assert all((row["covered"], row["waiting"]) == (1, None) for row in rows)
    # What was said before has no meaning of its own, so only the first day shows two topics.
    assert [len(checkpoint["message_ids"]) for checkpoint in await checkpoints(chat)] == [
        4,
        4,
        *[8] * 8,
    ]
    before = await life.everything()
    assert await cover(life) == 0
    assert await life.everything() == before


async def test_flags_and_new_messages_at_once_leave_no_flagged_word(
    life: Life, chat: httpx.AsyncClient
) -> None:
    start = ago(HOUR)
    said = await life.say(*KILN, *KNEE, at=start)

    async def more() -> None:
        for place in range(4):
            await life.say(f"Kiln number {place} of the pottery.", at=start + place * HOUR / 8)
            await cover(life)

    await asyncio.gather(more(), cover(life), *(forget(chat, id_) for id_ in said[::2]))

    texts = "\n".join(checkpoint["summary"] for checkpoint in await checkpoints(chat)).splitlines()
    assert not {f"Sam: {line}" for line in [*KILN, *KNEE][::2]} & {*texts}


async def test_what_the_broker_lost_is_found_again(life: Life) -> None:
    await life.say(*KILN, at=ago(HOUR))
    mine = (life.tenant_id, "monday")

    assert mine in await list_overdue_checkpoints(life.graph, now=datetime.now(UTC), limit=1000)
    await cover(life)
    assert mine not in await list_overdue_checkpoints(life.graph, now=datetime.now(UTC), limit=1000)


async def test_a_conversation_that_is_not_there_has_nothing_to_cover(life: Life) -> None:
    assert await cover(life, "nowhere") == 0


async def test_the_night_takes_no_message_out_of_its_checkpoint(
    life: Life, chat: httpx.AsyncClient
) -> None:
    await life.say(*KILN, at=ago(4 * DAY))
    await cover(life)
    before = await checkpoints(chat)

    await life.night(datetime.now(UTC))
    await life.say(*KNEE, at=ago(HOUR))
    await cover(life)

    assert (await checkpoints(chat))[0] == before[0]


@pytest.mark.parametrize(
    "name", [*cypher.names("forgetting/flags"), *cypher.names("talk/checkpoints")]
)
async def test_no_statement_looks_at_more_than_it_asks_for(life: Life, name: str) -> None:
    """What is flagged or covered is found by an index, however much else there is."""
    plan = (await explained(life.graph, name)).plan

    assert plan
    assert not [part for part, _ in parts(plan) if "LabelScan" in part or "AllNodes" in part]
