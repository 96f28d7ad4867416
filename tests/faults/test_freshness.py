"""What was forgotten is never recalled from memory: two processes, kills, stalls and cut lines.

Writers own messages and memories and forget, archive and take back; readers ask both processes all
the time. A reader knows what every writer was told before it asked. The short form is part of the
tests; `make freshness` runs the long one.
"""

import asyncio
import contextlib
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from engine.settings import Settings
from ops.ports import free_port
from ops.servers import Process, wait_until
from tests.faults.test_forget import headers_of
from tests.lives import Life
from tests.servers import answers, running

RECALLS = int(os.environ.get("FRESH_RECALLS", "400"))
FAULTS = int(os.environ.get("FRESH_FAULTS", "3"))  # of each kind
READERS = int(os.environ.get("FRESH_READERS", "4"))
PAUSE = float(os.environ.get("FRESH_PAUSE", "0.3"))  # seconds between two changes of a writer
MESSAGES = 24
QUERY_WORDS = 3
REPORTED = 5_000  # recalls between two lines of a long run


class Line:
    """A way to Neo4j that can be cut for a while: what was sent waits, as in a bad network."""

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._open = asyncio.Event()
        self._open.set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def cut_for(self, seconds: float) -> None:
        self._open.clear()
        await asyncio.sleep(seconds)
        self._open.set()

    async def close(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        far, forth = await asyncio.open_connection(*self._target)
        for source, target in ((near, forth), (far, back)):
            task = asyncio.create_task(self._carry(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _carry(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65_536):
                await self._open.wait()
                target.write(data)
                await target.drain()
        target.close()


@dataclass
class Api:
    """One API process, which can be killed, started again, and stopped for a while."""

    settings: Settings
    folder: Path
    stack: contextlib.ExitStack
    process: Process = field(init=False)

    def start(self) -> None:
        log = self.folder / f"api-{self.settings.api_port}-{time.monotonic_ns()}.log"
        line = [sys.executable, "-m", "api"]
        self.process = self.stack.enter_context(running(line, self.settings, log))
        wait_until(lambda: answers(f"{self.address}/api/health"), self.process, log)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.settings.api_port}"

    def restart(self) -> None:
        self.process.kill()
        self.process.wait()
        self.start()

    async def stall_for(self, seconds: float) -> None:
        self.process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)


@dataclass
class World:
    """What the writers were told, and what the readers saw."""

    apis: list[Api]
    clients: list[httpx.AsyncClient]  # one for each of them
    # Message or memory → since when it is surely out of recall: that was answered, and nobody has
    # asked to take it back.
    gone_since: dict[str, float] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    done: bool = False

    async def change(self, chance: random.Random, path: str, body: dict[str, str]) -> bool:
        """Call until it is answered; a process that dies meanwhile may have done it or not."""
        while not self.done:
            try:
                answer = await chance.choice(self.clients).post(path, json=body)
                if answer.status_code < 300:
                    return True
                assert answer.status_code in (404, 409, 503), answer.text
            except httpx.HTTPError:
                self.counts["calls to a dead process"] += 1
            await asyncio.sleep(0.05)
        return False

    async def writer(self, seed: int, message_id: str, memory_id: str | None) -> None:
        """Forget and take back one message, or archive its memory and back, again and again."""
        chance = random.Random(seed)
        while not self.done:
            by_archive = memory_id is not None and chance.random() < 0.4
            if by_archive and memory_id:
                key, out, back = (
                    memory_id,
                    f"/memories/{memory_id}/archive",
                    f"/memories/{memory_id}/unarchive",
                )
                body: dict[str, str] = {}
            else:
                key, out, back = (
                    message_id,
                    f"/messages/{message_id}/forget",
                    f"/messages/{message_id}/undo",
                )
                body = {"source": "memory_manager"}
            if await self.change(chance, out, {}):
                self.gone_since[key] = time.monotonic()
                self.counts["archived" if by_archive else "forgotten"] += 1
            await asyncio.sleep(chance.uniform(0, PAUSE))
            self.gone_since.pop(key, None)
            await self.change(chance, back, body)
            await asyncio.sleep(chance.uniform(0, PAUSE))

    async def reader(self, seed: int, recalls: int) -> None:
        chance = random.Random(seed)
        while recalls > 0:
            asked_at = time.monotonic()
            gone = {key for key, since in self.gone_since.items() if since < asked_at}
            number = chance.randrange(MESSAGES)
            query = " ".join(f"{word}{number}" for word in ("story", "of", "its")[:QUERY_WORDS])
            try:
                answer = await chance.choice(self.clients).post(
                    "/personas/ada/recall", json={"query": query, "counts": seed % 2 == 0}
                )
            except httpx.HTTPError:
                self.counts["calls to a dead process"] += 1
                continue
            if answer.status_code != 200:
                assert answer.status_code == 503, answer.text
                self.counts["recalls refused"] += 1
                continue
            recalls -= 1
            self.counts["recalls"] += 1
            if self.counts["recalls"] % REPORTED == 0:
                print(f"\n{dict(self.counts)}; stale: {self.stale}", flush=True)
            still_gone = {key for key in gone if self.gone_since.get(key, asked_at) < asked_at}
            for hit in answer.json()["hits"]:
                keys = {hit["id"], hit["source_message_id"]} & still_gone
                if keys and not hit["deprioritized"]:
                    self.stale.append(f"{keys} in the answer to {query!r}")
                self.counts["hits"] += 1

    async def nights(self, life: Life, first: datetime) -> None:
        """Nights one after the other, which form, link, fade and archive what is there."""
        number = 0
        while not self.done:
            await life.night(first + timedelta(days=number))
            self.counts["nights"] += 1
            number += 1
            await asyncio.sleep(3 * PAUSE)

    async def served_from_memory(self) -> int:
        """How many recalls the processes that run now have answered from memory."""
        total = 0
        for api in self.apis:
            async with httpx.AsyncClient(base_url=api.address, timeout=60) as client:
                for line in (await client.get("/metrics")).text.splitlines():
                    if line.startswith('pentimento_recalls_total{index="memory"}'):
                        total += int(float(line.split()[-1]))
        return total


@pytest.fixture
def processes() -> Iterator[contextlib.ExitStack]:
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.mark.timeout(600 + RECALLS)
@pytest.mark.spec("FLAG-04", "CTX-02", "SEARCH-03")
async def test_what_was_forgotten_is_never_recalled_whatever_process_forgot_it(
    life: Life, settings: Settings, tmp_path: Path, processes: contextlib.ExitStack
) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    said = await life.say(
        *(f"story{number} of{number} its{number}" for number in range(MESSAGES // 2)),
        at=now - timedelta(days=3),
    )
    await life.night(now - timedelta(days=1))
    said += await life.say(
        *(f"story{number} of{number} its{number}" for number in range(MESSAGES // 2, MESSAGES)),
        at=now - timedelta(hours=3),
    )
    rows = await life.ask(
        "MATCH (m:Memory {tenant_id: $t})-[:DRAWN_FROM]->(s) RETURN m.id AS id, s.id AS message"
    )
    memory_of = {row["message"]: row["id"] for row in rows}
    neo4j = urlsplit(str(settings.neo4j_uri))
    line = Line(str(neo4j.hostname), neo4j.port or 7687)
    through_line = f"bolt://127.0.0.1:{await line.start()}"
    ways = (str(settings.neo4j_uri), through_line)
    apis = [
        Api(
            settings.model_copy(update={"api_port": free_port(), "neo4j_uri": way}),
            tmp_path,
            processes,
        )
        for way in ways
    ]
    headers = await headers_of(life)
    clients = [
        httpx.AsyncClient(base_url=f"{api.address}/api", headers=headers, timeout=60)
        for api in apis
    ]
    world = World(apis, clients)
    for api in world.apis:
        await asyncio.to_thread(api.start)

    background = [
        asyncio.create_task(world.writer(number, message_id, memory_of.get(message_id)))
        for number, message_id in enumerate(said)
        if number % 3 == 0
    ]
    background.append(asyncio.create_task(world.nights(life, now)))
    readers = [
        asyncio.create_task(world.reader(100 + number, RECALLS // READERS))
        for number in range(READERS)
    ]
    first, second = world.apis
    for _ in range(FAULTS):
        await asyncio.sleep(1.5)
        await line.cut_for(1.0)
        await asyncio.sleep(0.5)
        await second.stall_for(0.7)
        await asyncio.sleep(0.5)
        await asyncio.to_thread(first.restart)
    await asyncio.gather(*readers)
    from_memory = await world.served_from_memory()
    world.done = True
    await asyncio.gather(*background)
    await line.close()
    for client in clients:
        await client.aclose()
    print(f"\n{dict(world.counts)}; {from_memory} from memory by the processes that ended last")

    assert world.stale == []
    assert world.counts["recalls"] >= RECALLS - READERS
    assert from_memory > 0
    assert min(world.counts[kind] for kind in ("forgotten", "archived", "nights")) > 0
