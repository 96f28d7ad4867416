import asyncio
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.app import create_app
from engine import bounds
from engine.access.models import Role
from engine.service.clock import MovableClock
from engine.settings import Settings
from tests.api.conftest import NewCaller, a_client
from tests.servers import local_worker
from tests.stalls import least_seconds

NOON = datetime(2026, 5, 2, 12, tzinfo=UTC)
UNFLAGGED = {
    "is_flagged": False,
    "flagged_at": None,
    "flagged_by": None,
    "scope": None,
    "range_id": None,
    "reversed_at": None,
    "reversal_source": None,
}


def said(number: int, content: str = "I moved to Lisbon.", **fields: Any) -> dict[str, Any]:
    moment = NOON + timedelta(minutes=number)
    return {
        "message_id": f"m{number}",
        "persona_id": "ada",
        "role": "user",
        "content": content,
        "timestamp": moment.isoformat().replace("+00:00", "Z"),
        **fields,
    }


@pytest.fixture
async def monday(admin: httpx.AsyncClient) -> str:
    """A conversation of two personas in the studio; its messages' address."""
    for name in ("ada", "eve"):
        await admin.post("/api/personas", json={"id": name, "name": name.title()})
    await admin.post("/api/instances", json={"id": "studio", "name": "Studio"})
    body = {"id": "monday", "instance_id": "studio", "persona_ids": ["eve", "ada"]}
    opened = await admin.post("/api/conversations", json=body)
    assert opened.status_code == 201, opened.text
    return "/api/conversations/monday/messages"


async def transcript(client: httpx.AsyncClient, address: str) -> list[dict[str, Any]]:
    return list((await client.get(address, params={"limit": 500})).json()["items"])


async def test_a_conversation_is_opened_read_and_listed(
    admin: httpx.AsyncClient, monday: str
) -> None:
    body = {"id": "monday", "instance_id": "studio", "persona_ids": ["ada", "eve"]}
    again = await admin.post("/api/conversations", json=body)
    other = await admin.post("/api/conversations", json={**body, "title": "Other"})

    assert again.json()["persona_ids"] == ["ada", "eve"]
    assert other.status_code == 409
    assert (await admin.get("/api/conversations/monday")).json() == again.json()
    assert (await admin.get("/api/conversations")).json()["items"] == [again.json()]
    of_studio = await admin.get("/api/conversations", params={"instance_id": "studio"})
    of_attic = await admin.get("/api/conversations", params={"instance_id": "attic"})
    assert len(of_studio.json()["items"]) == 1
    assert of_attic.json()["items"] == []


async def test_a_conversation_needs_an_instance_and_personas_that_exist(
    admin: httpx.AsyncClient, monday: str
) -> None:
    for wrong in (
        {"instance_id": "absent", "persona_ids": ["ada"]},
        {"instance_id": "studio", "persona_ids": ["ada", "absent"]},
    ):
        refused = await admin.post("/api/conversations", json={"id": "new", **wrong})
        assert refused.status_code == 404
        assert "absent" in refused.json()["detail"]
    assert (await admin.get("/api/conversations/new")).status_code == 404


async def test_a_message_comes_back_in_its_published_shape(
    admin: httpx.AsyncClient, monday: str
) -> None:
    sent = said(1, user_id="sam", speaker="Sam", reply_to="m0")

    kept = (await admin.post(monday, json={"messages": [sent]})).json()

    beside = {"conversation_id": "monday", "deprioritization": UNFLAGGED, "can_forget": True}
    assert kept == [{**sent, **beside}]
    assert await transcript(admin, monday) == kept


async def test_messages_arrive_in_any_order_and_as_often_as_they_like(
    admin: httpx.AsyncClient, monday: str
) -> None:
    messages = [said(n, f"Thing {n}", persona_id=["ada", "eve"][n % 2]) for n in range(30)]
    shuffled = random.Random(7).sample(messages, len(messages))

    batches = [shuffled[at : at + 7] for at in range(0, 30, 5)]
    answers = await asyncio.gather(
        *(admin.post(monday, json={"messages": batch}) for batch in [*batches, *batches])
    )

    assert {answer.status_code for answer in answers} == {201}
    assert [item["content"] for item in await transcript(admin, monday)] == [
        message["content"] for message in messages
    ]


async def test_a_transcript_comes_in_pages(admin: httpx.AsyncClient, monday: str) -> None:
    messages = [said(n // 3, f"Thing {n}", message_id=f"m{n:02}") for n in range(20)]
    sent = messages[::-1]
    await admin.post(monday, json={"messages": sent})

    seen: list[str] = []
    cursor: str | None = None
    while True:
        query: dict[str, Any] = {"limit": 3} | ({"cursor": cursor} if cursor else {})
        part = (await admin.get(monday, params=query)).json()
        seen += [item["message_id"] for item in part["items"]]
        cursor = part["next_cursor"]
        if not cursor:
            break

    # By time; those of one time in the order they arrived.
    arrived = sorted(sent, key=lambda message: message["timestamp"])
    assert seen == [message["message_id"] for message in arrived]
    for bad in ("bm90LWEtdGltZXx4", "MjAyNi0wNS0wMnx4", "%"):
        assert (await admin.get(monday, params={"cursor": bad})).status_code in (200, 400)


async def test_messages_of_one_second_are_paged_through_without_a_gap(
    admin: httpx.AsyncClient, monday: str
) -> None:
    at_once = [said(number) | {"timestamp": said(0)["timestamp"]} for number in range(4)]
    await admin.post(monday, json={"messages": at_once})

    listed: list[str] = []
    cursor: str | None = None
    while cursor or not listed:
        query: dict[str, Any] = {"limit": 1} | ({"cursor": cursor} if cursor else {})
        part = (await admin.get(monday, params=query)).json()
        listed += [message["message_id"] for message in part["items"]]
        cursor = part["next_cursor"]
    assert listed == ["m0", "m1", "m2", "m3"]


async def test_what_was_said_cannot_be_changed(admin: httpx.AsyncClient, monday: str) -> None:
    await admin.post(monday, json={"messages": [said(1)]})
    before = await transcript(admin, monday)

    rewritten = [said(2, "New."), said(1, "I moved to Porto.")]
    refused = await admin.post(monday, json={"messages": rewritten})

    assert refused.status_code == 409
    assert "m1" in refused.json()["detail"]
    assert await transcript(admin, monday) == before


async def test_one_id_lives_in_one_conversation(admin: httpx.AsyncClient, monday: str) -> None:
    await admin.post(monday, json={"messages": [said(1)]})
    body = {"id": "tuesday", "instance_id": "studio", "persona_ids": ["ada"]}
    await admin.post("/api/conversations", json=body)
    tuesday = "/api/conversations/tuesday/messages"

    refused = await admin.post(tuesday, json={"messages": [said(1)]})

    assert refused.status_code == 409
    assert await transcript(admin, tuesday) == []
    assert len(await transcript(admin, monday)) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"persona_id": "absent"},
        {"role": "narrator"},
        {"timestamp": "yesterday"},
        {"timestamp": "2026-05-02T12:00:00"},
        {"timestamp": "0001-01-01T00:00:00Z"},
        {"content": "x" * (bounds.MESSAGE + 1)},
        {"message_id": "m 1"},
        {"extra": 1},
    ],
    ids=lambda wrong: str(wrong)[:30],
)
async def test_a_bad_message_keeps_the_whole_batch_out(
    admin: httpx.AsyncClient, monday: str, wrong: dict[str, Any]
) -> None:
    refused = await admin.post(monday, json={"messages": [said(1), {**said(2), **wrong}]})

    assert refused.status_code == 400
    assert await transcript(admin, monday) == []


async def test_bounds_of_a_batch(admin: httpx.AsyncClient, monday: str) -> None:
    many = [said(n, "Thing") for n in range(1001)]

    assert (await admin.post(monday, json={"messages": []})).status_code == 400
    assert (await admin.post(monday, json={"messages": many})).status_code == 400
    assert (await admin.post(monday, json={"messages": [said(1), said(1)]})).status_code == 400
    assert (await admin.post(monday, json={"messages": many[:1000]})).status_code == 201


@pytest.mark.parametrize("words", [{"role": "persona"}, {"user_id": "kim"}])
async def test_a_person_speaks_for_nobody_else(
    admin: httpx.AsyncClient,
    monday: str,
    new_caller: NewCaller,
    tenant_id: str,
    words: dict[str, str],
) -> None:
    sam = await new_caller(tenant_id, Role.USER, "sam")
    await admin.put("/api/instances/studio/members/sam", json={})

    refused = await sam.post(monday, json={"messages": [said(1), {**said(2), **words}]})

    assert refused.status_code == 403
    assert await transcript(admin, monday) == []


async def test_membership_decides_who_speaks_and_reads(
    admin: httpx.AsyncClient, monday: str, new_caller: NewCaller, tenant_id: str
) -> None:
    sam = await new_caller(tenant_id, Role.USER, "sam")
    analyst = await new_caller(tenant_id, Role.ANALYST)

    assert (await sam.post(monday, json={"messages": [said(1)]})).status_code == 404
    assert (await sam.get(monday)).status_code == 404
    assert (await sam.get("/api/conversations")).json()["items"] == []
    assert (await analyst.post(monday, json={"messages": [said(1)]})).status_code == 403

    await admin.put("/api/instances/studio/members/sam", json={})
    kept = await sam.post(monday, json={"messages": [said(1)]})
    assert kept.json()[0]["user_id"] == "sam"
    assert len((await sam.get("/api/conversations")).json()["items"]) == 1
    assert len(await transcript(analyst, monday)) == 1


@pytest.fixture
def worker(settings: Settings, tmp_path: Path) -> Iterator[None]:
    with local_worker(settings, tmp_path):
        yield


async def pending(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    return list((await client.get("/api/personas/ada/candidates")).json()["items"])


@pytest.mark.spec("CAND-01")
async def test_candidates_follow_a_message_at_once(
    admin: httpx.AsyncClient, monday: str, worker: None
) -> None:
    """Through the broker and a worker, with the real model; the first one also loads it."""
    await admin.post(monday, json={"messages": [said(1, speaker="Sam")]})
    await until_pending(admin, "m1", seconds=30)

    facts = enumerate(
        ["I work as a nurse.", "I am allergic to peanuts.", "I live in Porto."], start=2
    )

    async def drawn() -> None:
        message = said(*next(facts), speaker="Sam")
        await admin.post(monday, json={"messages": [message]})
        await until_pending(admin, message["message_id"], seconds=60)

    seconds = await least_seconds(drawn, 5)

    assert seconds < 5
    texts = {candidate["text"] for candidate in await pending(admin)}
    assert "Sam works as a nurse." in texts
    gate = (await admin.get("/api/personas/ada/gate")).json()
    assert gate["messages"] == len(await transcript(admin, monday))


async def until_pending(client: httpx.AsyncClient, message_id: str, *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not any(
        message_id in candidate["source_message_ids"] for candidate in await pending(client)
    ):
        assert time.monotonic() < deadline, await pending(client)
        await asyncio.sleep(0.05)


async def test_without_a_broker_what_was_said_is_kept_all_the_same(
    settings: Settings, admin: httpx.AsyncClient, monday: str
) -> None:
    app = create_app(settings.model_copy(update={"redis_url": "redis://127.0.0.1:9/0"}))
    answers: list[httpx.Response] = []

    async def sent() -> None:
        message = said(len(answers) + 1)
        answers.append(await client.post(monday, json={"messages": [message]}))

    async with app.lifespan(), a_client(app) as client:
        client.headers.update(admin.headers)
        seconds = await least_seconds(sent, 8)

    assert {answer.status_code for answer in answers} == {201}
    assert seconds < 8
    assert len(await transcript(admin, monday)) == len(answers)


async def test_candidates_are_edited_and_removed_over_http(
    admin: httpx.AsyncClient, monday: str
) -> None:
    await admin.post(monday, json={"messages": [said(1)]})
    body = {
        "candidate_id": "fact",
        "memory_type": "semantic",
        "text": "Sam lives in Lisbon.",
        "content": {"subject": "Sam", "attribute": "home", "value": "Lisbon"},
        "source_message_ids": ["m1"],
    }
    proposed = await admin.post("/api/personas/ada/candidates", json=body)
    edited = await admin.patch("/api/candidates/fact", json={"text": "Sam lives in Porto."})
    removed = await admin.delete("/api/candidates/fact")

    assert proposed.status_code == 201
    assert proposed.json() | body == proposed.json()
    assert edited.json() == proposed.json() | {"text": "Sam lives in Porto."}
    assert removed.status_code == 204
    assert await pending(admin) == []
    gone = await admin.get("/api/personas/ada/candidates", params={"state": "removed"})
    assert [item["candidate_id"] for item in gone.json()["items"]] == ["fact"]
    assert (await admin.delete("/api/candidates/fact")).status_code == 409
    assert (await admin.delete("/api/candidates/absent")).status_code == 404


async def test_after_the_editing_window_minimizing_is_offered(
    admin: httpx.AsyncClient, monday: str, clock: MovableClock
) -> None:
    body = {"candidate_id": "fact", "memory_type": "semantic", "text": "Sam lives in Lisbon."}
    await admin.post("/api/personas/ada/candidates", json=body)
    await clock.move(datetime.now(UTC) + timedelta(hours=24, minutes=1))

    refused = [
        await admin.patch("/api/candidates/fact", json={"text": "Other."}),
        await admin.delete("/api/candidates/fact"),
    ]

    for answer in refused:
        assert answer.status_code == 409
        assert "minimized" in answer.json()["detail"]
    assert (await pending(admin))[0]["text"] == "Sam lives in Lisbon."
