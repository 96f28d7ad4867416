"""Devices that listen to a conversation, over a real connection."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from engine.access.instances import put_member, remove_member
from engine.access.keys import issue_key
from engine.access.models import MemberRole, Role
from engine.settings import Settings
from engine.store.broker import open_broker
from engine.store.graph import Graph
from engine.talk.checkpoints import make_checkpoints
from engine.talk.events import notify_devices
from tests.api.conftest import a_token
from tests.lives import BORN, Life
from tests.servers import local_api


@pytest.fixture(scope="module")
def address(
    settings: Settings, graph: Graph, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    with local_api(settings, tmp_path_factory.mktemp("events")) as served:
        yield served


class Device:
    """One open chat of a person."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self.heard: list[dict[str, Any]] = []
        self.connected = asyncio.Event()
        self.heard_before: list[dict[str, Any]] = []

    async def listen(self, after: str | None = None) -> None:
        headers = {"Last-Event-ID": after} if after else {}
        path = "/api/conversations/monday/events"
        async with self.client.stream("GET", path, headers=headers) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            self.connected.set()
            event: dict[str, Any] = {}
            async for line in answer.aiter_lines():
                name, _, value = line.partition(": ")
                if name in ("id", "event"):
                    event[name] = value
                elif name == "data":
                    event |= json.loads(value)
                elif not line and event:
                    self.heard.append(event)
                    event = {}

    async def until(self, events: int, seconds: float = 60) -> list[dict[str, Any]]:
        async with asyncio.timeout(seconds):
            while len(self.heard) < events:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        return self.heard


@pytest.fixture
async def device_of(life: Life, address: str) -> AsyncIterator[Any]:
    opened: list[httpx.AsyncClient] = []

    async def make(user_id: str, role: MemberRole = MemberRole.MEMBER) -> Device:
        await put_member(life.graph, life.tenant_id, "studio", user_id, role=role, now=BORN)
        token = await a_token(life.graph, life.tenant_id, user_id)
        headers = {"Authorization": f"Bearer {token}"}
        opened.append(httpx.AsyncClient(base_url=address, headers=headers, timeout=30))
        return Device(opened[-1])

    yield make
    for client in opened:
        await client.aclose()


async def say(life: Life, *contents: str) -> list[str]:
    return await life.say(*contents, at=datetime.now(UTC) - timedelta(hours=1))


async def test_other_open_devices_hear_of_flags_and_undos_at_once_and_catch_up_later(
    life: Life, device_of: Any
) -> None:
    one, two, three = await say(life, "red house", "green tree", "blue gate")
    phone, laptop = await device_of("sam"), await device_of("sam")
    listening = [asyncio.create_task(device.listen()) for device in (phone, laptop)]
    await asyncio.sleep(0.5)

    await phone.client.post(f"/api/messages/{one}/forget")
    flagged = (await laptop.until(1))[0]
    await laptop.client.post(f"/api/messages/{one}/undo", json={})
    unflagged = (await phone.until(2))[1]
    for task in listening:
        task.cancel()
    await phone.client.post(f"/api/messages/{two}/forget")  # while nobody listens
    await phone.client.post(f"/api/messages/{three}/forget")
    tablet = await device_of("sam")
    catching_up = asyncio.create_task(tablet.listen(after=unflagged["id"]))
    missed = await tablet.until(2)
    catching_up.cancel()

    assert (flagged["event"], flagged["by"], flagged["message_ids"]) == ("flagged", "sam", [one])
    assert flagged["acknowledgment"]["text"]
    assert (unflagged["event"], unflagged["source"]) == ("unflagged", "memory_manager")
    assert [item["id"] for item in (flagged, unflagged, *missed)] == ["1", "2", "3", "4"]
    assert [event["message_ids"] for event in missed] == [[two], [three]]


async def test_what_somebody_flagged_is_seen_by_them_and_by_admins_of_the_instance(
    life: Life, device_of: Any
) -> None:
    one, two = await say(life, "red house", "green tree")
    sam, mia = await device_of("sam"), await device_of("mia")
    boss = await device_of("ines", MemberRole.ADMIN)
    tasks = [asyncio.create_task(device.listen()) for device in (sam, mia, boss)]
    await asyncio.sleep(0.5)

    await sam.client.post(f"/api/messages/{one}/forget")
    await mia.client.post(f"/api/messages/{two}/forget")
    await boss.until(2)
    await asyncio.sleep(0.3)
    for task in tasks:
        task.cancel()

    async def badges(device: Device) -> dict[str, tuple[bool, bool]]:
        listed = await device.client.get("/api/conversations/monday/messages")
        return {
            item["message_id"]: (item["deprioritization"]["is_flagged"], item["can_forget"])
            for item in listed.json()["items"]
        }

    assert [event["message_ids"] for event in sam.heard] == [[one]]
    assert [event["message_ids"] for event in mia.heard] == [[two]]
    assert [event["message_ids"] for event in boss.heard] == [[one], [two]]
    assert await badges(sam) == {one: (True, False), two: (False, True)}
    assert await badges(mia) == {one: (False, True), two: (True, False)}
    assert await badges(boss) == {one: (True, False), two: (True, False)}


async def test_who_may_no_longer_see_the_conversation_hears_no_more(
    life: Life, device_of: Any
) -> None:
    (one,) = await say(life, "red house")
    sam, mia = await device_of("sam"), await device_of("mia", MemberRole.ADMIN)
    listening = asyncio.create_task(mia.listen())
    await asyncio.sleep(0.5)
    await remove_member(life.graph, life.tenant_id, "studio", "mia")

    await sam.client.post(f"/api/messages/{one}/forget")
    async with asyncio.timeout(5):
        await listening

    assert mia.heard == []
    assert (await mia.client.get("/api/conversations/monday/events")).status_code == 404


async def test_a_listing_says_what_may_be_flagged_and_by_whom(
    life: Life, device_of: Any, address: str
) -> None:
    (one,) = await say(life, "red house")
    sam = await device_of("sam")
    path = "/api/conversations/monday/messages"
    issued = await issue_key(
        life.graph, life.tenant_id, name="reads", role=Role.ANALYST, now=datetime.now(UTC)
    )
    async with httpx.AsyncClient(
        base_url=address, headers={"Authorization": f"Bearer {issued.api_key}"}
    ) as analyst:
        read = (await analyst.get(path)).json()["items"]
        refused = await analyst.post(f"/api/messages/{one}/forget")
    outsider = await device_of("mia")
    await remove_member(life.graph, life.tenant_id, "studio", "mia")

    assert [item["can_forget"] for item in (await sam.client.get(path)).json()["items"]] == [True]
    assert ([message["can_forget"] for message in read], refused.status_code) == ([False], 403)
    there = await outsider.client.post(f"/api/messages/{one}/forget")
    nowhere = await outsider.client.post("/api/messages/nothing/forget")
    assert (there.status_code, nowhere.status_code) == (404, 404)


async def open_devices(*devices: Device) -> list["asyncio.Task[None]"]:
    """Lets devices listen, and waits until all are connected."""
    tasks = [asyncio.create_task(device.listen()) for device in devices]
    async with asyncio.timeout(30):
        for device in devices:
            await device.connected.wait()
    return tasks


async def test_who_flagged_hears_of_an_admin_who_takes_it_back(life: Life, device_of: Any) -> None:
    (one,) = await say(life, "red house")
    sam, mia = await device_of("sam"), await device_of("mia")
    boss = await device_of("ines", MemberRole.ADMIN)
    tasks = await open_devices(sam, mia, boss)

    flagged = (await sam.client.post(f"/api/messages/{one}/forget")).json()
    await boss.client.post(f"/api/messages/{one}/undo", json={})
    heard, of_boss = await sam.until(2), await boss.until(2)
    for task in tasks:
        task.cancel()

    assert [(event["event"], event["by"]) for event in heard] == [
        ("flagged", "sam"),
        ("unflagged", "ines"),
    ]
    assert heard == of_boss
    # The acknowledgment goes with the flag it answered.
    assert heard[1]["withdrawn"] == [flagged["acknowledgment"]["acknowledgment_id"]]
    assert mia.heard == []


@pytest.mark.spec("UNDO-05")
async def test_a_withdrawn_acknowledgment_is_not_replayed(life: Life, device_of: Any) -> None:
    one, two, three = await say(life, "red house", "green tree", "blue gate")
    sam = await device_of("sam")
    await sam.client.post(f"/api/messages/{one}/forget")
    await sam.client.post(f"/api/messages/{one}/undo", json={})
    for message_id in (two, three):
        await sam.client.post(f"/api/messages/{message_id}/forget")

    catching_up = asyncio.create_task(sam.listen(after="0"))
    first, second, third, fourth = await sam.until(4)
    catching_up.cancel()

    assert (first["event"], first["acknowledgment"]) == ("flagged", None)
    assert (second["event"], second["acknowledgment"]) == ("unflagged", None)
    # One for both, which has turned plural since.
    assert third["acknowledgment"] == fourth["acknowledgment"]
    assert fourth["acknowledgment"]["plural"]


async def statements_run(address: str) -> int:
    """How many statements the API has run since it started, as it tells itself."""
    async with httpx.AsyncClient(base_url=address) as anybody:
        lines = (await anybody.get("/metrics")).text.splitlines()
    counted = [line for line in lines if line.startswith("pentimento_statement_seconds_count")]
    assert counted
    return sum(int(float(line.rpartition(" ")[2])) for line in counted)


async def test_a_stream_in_which_nothing_happens_asks_the_graph_nothing(
    life: Life, device_of: Any, address: str
) -> None:
    (one,) = await say(life, "red house")
    devices = [await device_of("sam") for _ in range(8)]
    tasks = await open_devices(*devices)
    before = -1
    while (now := await statements_run(address)) != before:  # first looks, and the API's warm-up
        before = now
        await asyncio.sleep(4)
    await asyncio.sleep(6)
    idle = await statements_run(address) - before
    await devices[0].client.post(f"/api/messages/{one}/forget")
    for device in devices:
        await device.until(1)
    for task in tasks:
        task.cancel()

    assert idle == 0


@pytest.mark.spec("FLAG-12")
async def test_later_effects_reach_the_streams_of_whom_they_concern(
    life: Life, device_of: Any, address: str, settings: Settings
) -> None:
    one, two = await life.say(
        "The red house by the river burned down.",
        "A green tree fell on the blue gate.",
        at=datetime.now(UTC) - timedelta(days=5),
    )
    now = datetime.now(UTC)
    await make_checkpoints(life.graph, life.tenant_id, "monday", now=now)
    sam, mia = await device_of("sam"), await device_of("mia")
    issued = await issue_key(life.graph, life.tenant_id, name="s", role=Role.ADMIN, now=now)
    headers = {"Authorization": f"Bearer {issued.api_key}"}
    staff = httpx.AsyncClient(base_url=address, headers=headers, timeout=60)
    tasks = await open_devices(sam, mia)

    async def hears(device: Device, *actions: str) -> list[dict[str, Any]]:
        events = await device.until(len(device.heard_before) + len(actions))
        new = events[len(device.heard_before) :]
        assert [record["event"] for record in new] == list(actions)
        device.heard_before = [*events]
        return new

    await mia.client.post(f"/api/messages/{one}/forget")
    flagged, summed = await hears(mia, "flagged", "summarized")
    assert len(flagged["candidate_ids"]) >= 1
    assert len(summed["checkpoint_ids"]) == 1
    (seen,) = await hears(sam, "summarized")  # what all may read has changed, not by whom
    assert (seen["by"], seen["message_ids"], seen["id"]) == ("engine", [], summed["id"])

    await life.night(now - timedelta(days=3))
    async with open_broker(settings) as redis:
        await notify_devices(redis, life.tenant_id)
    (passed,) = await hears(mia, "passed_over")
    assert passed["candidate_ids"] == flagged["candidate_ids"]
    await mia.client.post(f"/api/messages/{one}/undo", json={})
    await hears(mia, "unflagged", "summarized")
    await hears(sam, "summarized")
    candidate = flagged["candidate_ids"][0]
    await staff.post(f"/api/candidates/{candidate}/restore")
    (restored,) = await hears(mia, "restored")
    assert restored["candidate_ids"] == [candidate]
    assert await hears(sam, "restored")  # it is of his message

    memories = await life.memories()
    of_two = next(memory.memory_id for memory in memories if memory.source_message_ids == [two])
    for path, action in (
        ("minimize", "minimized"),
        ("restore", "restored"),
        ("archive", "archived"),
        ("unarchive", "unarchived"),
    ):
        answer = await staff.post(f"/api/memories/{of_two}/{path}", json={})
        assert answer.status_code == 200, answer.text
        (event,) = await hears(sam, action)
        assert event["memory_ids"] == [of_two]
    await asyncio.sleep(0.3)
    assert len(mia.heard) == len(mia.heard_before)  # she has neither said nor flagged it
    for task in tasks:
        task.cancel()
    await staff.aclose()
