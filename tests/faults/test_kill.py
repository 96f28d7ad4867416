"""Kill -9 of every process in turn while requests go on. `make faults` runs many rounds."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine.ids import new_id
from engine.settings import Settings
from ops.demo import prepare_demo
from ops.home import Home, Stack
from ops.stack import stack_of

ROUNDS = int(os.environ.get("FAULT_ROUNDS") or 1)
VICTIMS = ["neo4j", "redis", "worker", "api"]
WRITERS = 4
# Seconds after each call of a writer. The short form leaves the processor to what is starting: most
# of what it cost were writers that wait for nothing.
PAUSE = 0.0 if ROUNDS > 1 else 0.03


class Load:
    """Clients that make personas and read them back, and remember what they were promised."""

    def __init__(self, stack: Stack, key: str) -> None:
        self.url = f"{stack.api_url}/api/personas"
        self.headers = {"Authorization": f"Bearer {key}"}
        self.acknowledged: list[str] = []
        self.refused: dict[str, int] = {}
        self.slowest = 0.0
        self.running = True

    async def write(self) -> None:
        async with httpx.AsyncClient(headers=self.headers, timeout=15) as client:
            while self.running:
                persona_id = new_id()
                started = time.monotonic()
                try:
                    made = await client.post(self.url, json={"id": persona_id, "name": "P"})
                except httpx.HTTPError as error:  # the API itself is down
                    self.count(type(error).__name__)
                    await asyncio.sleep(0.05)
                    continue
                self.slowest = max(self.slowest, time.monotonic() - started)
                if made.status_code == 201:
                    self.acknowledged.append(persona_id)
                    read = await self.read(client, persona_id)
                    assert read in (200, 503, 0), f"an acknowledged write read as {read}"
                else:
                    self.count(str(made.status_code))
                    assert made.status_code == 503, made.text
                    assert made.headers["content-type"] == "application/problem+json"
                await asyncio.sleep(PAUSE)

    async def read(self, client: httpx.AsyncClient, persona_id: str) -> int:
        try:
            return (await client.get(f"{self.url}/{persona_id}")).status_code
        except httpx.HTTPError:
            return 0

    async def goes_on(self, writers: list["asyncio.Task[None]"]) -> None:
        """Wait until more was acknowledged; a writer that found a broken promise has ended."""
        before = len(self.acknowledged)
        deadline = time.monotonic() + 20
        while len(self.acknowledged) < before + 10:
            for writer in writers:
                if writer.done():
                    writer.result()
            assert time.monotonic() < deadline, self.refused
            await asyncio.sleep(0.1)

    def count(self, what: str) -> None:
        self.refused[what] = self.refused.get(what, 0) + 1

    async def lost(self) -> list[str]:
        """The promises that were not kept."""
        async with httpx.AsyncClient(headers=self.headers, timeout=15) as client:
            kept: set[str] = set()
            cursor = ""
            while True:
                query: dict[str, Any] = {"limit": 500} | ({"cursor": cursor} if cursor else {})
                page = (await client.get(self.url, params=query)).json()
                kept |= {persona["id"] for persona in page["items"]}
                cursor = page["next_cursor"]
                if not cursor:
                    return [made for made in self.acknowledged if made not in kept]


async def readiness(stack: Stack) -> dict[str, bool]:
    """What the API says of each part; of itself, whether it answers at all."""
    try:
        async with httpx.AsyncClient(timeout=10) as client:
            answer = await client.get(f"{stack.api_url}/api/ready")
    except httpx.HTTPError:
        return {"api": False}
    checks = {name: check["ok"] for name, check in answer.json()["checks"].items()}
    assert (answer.status_code == 200) == all(checks.values())
    return {"api": True, **checks}


async def until(true: Callable[[dict[str, bool]], bool], stack: Stack, seconds: float) -> float:
    started = time.monotonic()
    while not true(seen := await readiness(stack)):
        assert time.monotonic() - started < seconds, seen
        await asyncio.sleep(0.2)
    return time.monotonic() - started


@pytest.fixture
async def stack(a_home: Path) -> AsyncIterator[tuple[Home, Stack, str]]:
    home = Home(a_home)
    settings = Settings(_env_file=None, home=a_home, neo4j_heap="512m", neo4j_page_cache="128m")
    with stack_of(home, settings) as running:
        yield home, running, await prepare_demo(running.settings_for(settings), None)


@pytest.mark.timeout(300 + 200 * ROUNDS)
async def test_everything_that_is_killed_comes_back_and_no_promise_is_broken(
    stack: tuple[Home, Stack, str],
) -> None:
    home, running, key = stack
    load = Load(running, key)
    writers = [asyncio.create_task(load.write()) for _ in range(WRITERS)]
    supervisord = int((home.run / "supervisord.pid").read_text())

    for round_ in range(ROUNDS):
        for victim in VICTIMS:
            await load.goes_on(writers)
            pid = home.pid(running, victim)
            assert pid
            # Held still, so that what is dead stays dead long enough to be asked about.
            os.kill(supervisord, signal.SIGSTOP)
            try:
                os.kill(pid, signal.SIGKILL)
                noticed = await until(lambda seen, v=victim: not seen.get(v, True), running, 15)  # type: ignore[misc]
            finally:
                os.kill(supervisord, signal.SIGCONT)
            back = await until(lambda seen: len(seen) > 1 and all(seen.values()), running, 90)
            assert home.pid(running, victim) != pid
            await load.goes_on(writers)
            print(f"round {round_ + 1}: {victim} noticed in {noticed:.1f} s, back in {back:.1f} s")

    load.running = False
    await asyncio.gather(*writers)
    print(f"{len(load.acknowledged)} acknowledged, refused {load.refused}, {load.slowest:.1f} s")

    assert await load.lost() == []
    assert load.slowest < 8
    log = (home.run / "supervisord.log").read_text()
    for victim in VICTIMS:
        assert log.count(f"exited: {victim} (terminated by SIGKILL; not expected)") == ROUNDS
        assert log.count(f"spawned: '{victim}'") == ROUNDS + 1
