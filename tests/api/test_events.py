"""Devices that listen to a conversation, over a real connection."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from engine.graph import Graph
from engine.instances import put_member, remove_member
from engine.keys import issue_key
from engine.models import MemberRole, Role
from engine.settings import Settings
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

    async def listen(self, after: str | None = None) -> None:
        headers = {"Last-Event-ID": after} if after else {}
        path = "/api/conversations/monday/events"
        async with self.client.stream("GET", path, headers=headers) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            told: dict[str, Any] = {}
            async for line in answer.aiter_lines():
                name, _, value = line.partition(": ")
                if name in ("id", "event"):
                    told[name] = value
                elif name == "data":
                    told |= json.loads(value)
                elif not line and told:
                    self.heard.append(told)
                    told = {}

    async def until(self, events: int, seconds: float = 5) -> list[dict[str, Any]]:
        async with asyncio.timeout(seconds):
            while len(self.heard) < events:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        return self.heard


@pytest.fixture
async def device_of(life: Life, address: str) -> AsyncIterator[Any]:
    opened: list[httpx.AsyncClient] = []

    async def make(user_id: str, role: MemberRole = MemberRole.MEMBER) -> Device:
        await put_member(life.graph, life.tenant_id, "studio", user_id, role=role, now=BORN)
        issued = await issue_key(
            life.graph, life.tenant_id, name="chat", role=Role.USER, now=datetime.now(UTC)
        )
        headers = {"Authorization": f"Bearer {issued.api_key}", "X-User-Id": user_id}
        opened.append(httpx.AsyncClient(base_url=address, headers=headers, timeout=30))
        return Device(opened[-1])

    yield make
    for client in opened:
        await client.aclose()


async def say(life: Life, *contents: str) -> list[str]:
    return await life.say(*contents, at=datetime.now(UTC) - timedelta(hours=1))


@pytest.mark.spec("FLAG-12")
async def test_other_open_devices_hear_of_flags_and_undos_at_once_and_catch_up_later(
    life: Life, device_of: Any
) -> None:
    one, two, three = await say(life, "red house", "green tree", "blue gate")
    phone, laptop = await device_of("sam"), await device_of("sam")
    listening = [asyncio.create_task(device.listen()) for device in (phone, laptop)]
    await asyncio.sleep(0.5)

    await phone.client.post(f"/api/messages/{one}/forget")
    flagged = (await laptop.until(1))[0]
    await laptop.client.post(f"/api/messages/{one}/undo", json={"source": "undo_toast"})
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
    assert (unflagged["event"], unflagged["source"]) == ("unflagged", "undo_toast")
    assert [it["id"] for it in (flagged, unflagged, *missed)] == ["1", "2", "3", "4"]
    assert [it["message_ids"] for it in missed] == [[two], [three]]


@pytest.mark.spec("NAV-06")
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
            it["message_id"]: (it["deprioritization"]["is_flagged"], it["can_forget"])
            for it in listed.json()["items"]
        }

    assert [it["message_ids"] for it in sam.heard] == [[one]]
    assert [it["message_ids"] for it in mia.heard] == [[two]]
    assert [it["message_ids"] for it in boss.heard] == [[one], [two]]
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


@pytest.mark.spec("FLAG-09")
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

    assert [it["can_forget"] for it in (await sam.client.get(path)).json()["items"]] == [True]
    assert ([it["can_forget"] for it in read], refused.status_code) == ([False], 403)
    there = await outsider.client.post(f"/api/messages/{one}/forget")
    nowhere = await outsider.client.post("/api/messages/nothing/forget")
    assert (there.status_code, nowhere.status_code) == (404, 404)
