"""«Forget This» under load, and with its processes killed: all or nothing, and always consistent.

The short form is part of the tests; `make load` and `make faults` run the long ones.
"""

import asyncio
import os
import random
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from engine.access.keys import issue_key
from engine.access.models import Role
from engine.access.tenants import add_tenant
from engine.embedding import claim_model, open_embedder
from engine.extraction.port import RuleExtractor
from engine.forgetting.flags import undo_flags
from engine.forgetting.models import ReversalSource, UndoScope
from engine.memory.drawing import draw_candidates
from engine.night.ledger import Run
from engine.settings import Settings
from engine.store.graph import Graph
from engine.store.migrations import migrate
from ops.ports import free_port
from ops.servers import end, start_neo4j, wait_until
from tests.lives import RULES, Life, word_embedder
from tests.servers import INSTALLED, PASSWORD, answers, local_api, neo4j_place, running

SECONDS = float(os.environ.get("LOAD_SECONDS", "5"))
CLIENTS = int(os.environ.get("LOAD_CLIENTS", "8"))
ROUNDS = int(os.environ.get("FAULT_ROUNDS", "1"))
KILLS = 5 * ROUNDS if ROUNDS > 1 else 2
NEO4J_KILLS = 5 * ROUNDS if ROUNDS > 1 else 1  # each is a start of Neo4j, too
SIZE = 1_000 if ROUNDS > 1 else 300  # messages of a range
MESSAGES = 60


def ago(**delta: float) -> datetime:
    return datetime.now(UTC).replace(microsecond=0) - timedelta(**delta)


async def headers_of(life: Life) -> dict[str, str]:
    issued = await issue_key(
        life.graph, life.tenant_id, name="load", role=Role.ADMIN, now=datetime.now(UTC)
    )
    return {"Authorization": f"Bearer {issued.api_key}"}


def long_text(chance: random.Random) -> str:
    """As an assistant answers: pages of words, some of them lists and code."""
    words = [f"w{chance.randrange(5_000)}" for _ in range(chance.randint(1_600, 3_000))]
    return "\n- ".join(" ".join(words[place : place + 40]) for place in range(0, len(words), 40))


KINDS = (
    "forget_message",
    "undo_message",
    "forget_range",
    "undo_range",
    "recall",
    "assemble_context",
    "record_messages",
)


class Crowd:
    """Clients of one conversation who do everything at once, and what they were answered."""

    def __init__(self, address: str, headers: dict[str, str], said: list[str]) -> None:
        self.address, self.headers, self.said = address, headers, said
        self.answers: Counter[tuple[str, int]] = Counter()
        self.refusals: Counter[tuple[str, str]] = Counter()  # with what was told as their reason
        self.ranges: list[str] = []
        schema = httpx.get(f"{address}/schema/openapi.json", timeout=60).json()
        self.documented = {
            details["operationId"]: {int(status) for status in details["responses"]}
            for path in schema["paths"].values()
            for details in path.values()
            if isinstance(details, dict) and "operationId" in details
        }

    async def warm_up(self) -> None:
        """Make calls of each kind until they are answered: first plans of a graph take long."""
        until, chance = time.monotonic() + 120, random.Random(0)
        async with self.http() as http:
            waiting = set(KINDS)
            while waiting and time.monotonic() < until:
                operation, path, body = self.call(chance, f"first-{time.monotonic_ns()}")
                answer = await http.post(path, json=body)
                if answer.status_code < 500:
                    waiting.discard(operation)
                if operation == "forget_range" and answer.status_code == 200:
                    self.ranges.append(answer.json()["range_id"])

    def http(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=f"{self.address}/api", headers=self.headers, timeout=60)

    async def client(self, seed: int, ends_at: float) -> None:
        chance, place = random.Random(seed), 0
        async with self.http() as http:
            while time.monotonic() < ends_at:
                place += 1
                operation, path, body = self.call(chance, f"{seed}-{place}")
                answer = await http.post(path, json=body)
                self.answers[operation, answer.status_code] += 1
                if answer.status_code >= 500:
                    self.refusals[operation, answer.json()["detail"]] += 1
                assert answer.status_code in self.documented[operation], answer.text
                if operation == "forget_range" and answer.status_code == 200:
                    self.ranges.append(answer.json()["range_id"])

    def call(self, chance: random.Random, name: str) -> tuple[str, str, dict[str, Any]]:
        """One call by chance: the operation, its path and its body."""
        one, other = chance.choice(self.said), chance.choice(self.said)
        monday = "/conversations/monday"
        match chance.randrange(10):
            case 0 | 1:
                return "forget_message", f"/messages/{one}/forget", {}
            case 2:
                return "undo_message", f"/messages/{one}/undo", {}
            case 3:
                ends = {"first_message_id": one, "last_message_id": other, "confirmed": True}
                return "forget_range", f"{monday}/forget-range", ends
            case 4 if self.ranges:
                part = {"message_ids": [one, other]} if chance.random() < 0.5 else {}
                return "undo_range", f"/ranges/{chance.choice(self.ranges)}/undo", part
            case 5 | 6:
                query = chance.choice(["story3 of3", long_text(chance)[:4000]])
                return "recall", "/personas/ada/recall", {"query": query}
            case 7:
                return "assemble_context", "/personas/ada/context", {"conversation_id": "monday"}
            case _:
                long = chance.random() < 0.3
                message = {
                    "message_id": f"new-{name}",
                    "persona_id": "ada",
                    "role": "persona" if long else "user",
                    "content": long_text(chance) if long else f"Something new, number {name}.",
                    "timestamp": ago(minutes=1).isoformat(),
                }
                return "record_messages", f"{monday}/messages", {"messages": [message]}

    def summary(self) -> str:
        rows = sorted(self.answers.items())
        return ", ".join(f"{operation} {status}: {count}" for (operation, status), count in rows)


async def nights(life: Life, ends_at: float) -> list[Run]:
    """One night after the other, each after what was said since was drawn from."""
    runs: list[Run] = []
    while time.monotonic() < ends_at or not runs:
        now = ago(days=1) + timedelta(days=len(runs))
        await draw_candidates(
            life.graph.with_limit(60), life.embedder, RuleExtractor(), life.tenant_id, "monday",
            now=now - timedelta(hours=36),
        )  # fmt: skip
        runs.append(await life.night(now))
        await asyncio.sleep(SECONDS / 5)
    return runs


async def failed_tries(address: str) -> list[str]:
    """What Neo4j failed and was tried again, by statement and code."""
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        metrics = (await client.get("/metrics")).text
    return [
        line for line in metrics.splitlines() if line.startswith("pentimento_failed_tries_total")
    ]


@pytest.mark.timeout(300 + 2 * SECONDS)
@pytest.mark.spec("FLAG-11")
async def test_many_who_do_everything_at_once_leave_everything_consistent(
    life: Life, settings: Settings, tmp_path: Path
) -> None:
    said = await life.say(
        *(f"story{number} of{number} its{number}" for number in range(MESSAGES)), at=ago(days=3)
    )
    headers = await headers_of(life)

    with local_api(settings, tmp_path) as address:
        crowd = Crowd(address, headers, said)
        await crowd.warm_up()
        ends_at = time.monotonic() + SECONDS
        clients = (crowd.client(seed, ends_at) for seed in range(1, CLIENTS + 1))
        sleeping = asyncio.create_task(nights(life, ends_at))
        await asyncio.gather(*clients)
        runs = await sleeping
        tries = await failed_tries(address)
    seen = await life.check_flags()
    print(f"\n{CLIENTS} clients, {SECONDS:.0f} s, {len(runs)} nights: {crowd.summary()}; {seen}")
    print("\n".join([*tries, *map(str, crowd.refusals.items())]))

    # A 503 is told to those who waited too long for the conversation's lock; they may try again.
    refused = sum(count for (_, status), count in crowd.answers.items() if status == 503)
    assert refused < 0.1 * crowd.answers.total(), crowd.summary()
    assert {operation for operation, status in crowd.answers if status < 300} >= {"recall"}
    assert {run.state for run in runs} == {"done"}
    assert seen["events"] > 0


async def a_long_story(life: Life) -> list[str]:
    said: list[str] = []
    for start in range(0, SIZE, 100):
        texts = (f"story{number} of{number}" for number in range(start, start + 100))
        said += await life.say(*texts, at=ago(days=2) + timedelta(minutes=start))
    return said


async def whole_or_nothing(life: Life, said: list[str]) -> bool:
    """Whether a range was flagged; never in part. Afterwards it is not."""
    (row,) = await life.ask(
        "MATCH (m:Message {tenant_id: $t}) WHERE m.flagged RETURN count(m) AS flagged"
    )
    assert row["flagged"] in (0, SIZE)
    seen = await life.check_flags()
    assert seen["flagged"] == row["flagged"]
    if row["flagged"]:
        await take_back(life, said)
        assert (await life.check_flags())["flagged"] == 0
    return bool(row["flagged"])


def summary(ends: Counter[bool], answered: int) -> str:
    """Of a kill that came after the answer, the range is there in any case."""
    return (
        f"{SIZE} messages, {ends.total()} kills, {answered} of them after the answer: "
        f"{ends[True]} whole, {ends[False]} not at all"
    )


def forgetting(client: httpx.AsyncClient, said: list[str]) -> "asyncio.Task[httpx.Response]":
    body = {"first_message_id": said[0], "last_message_id": said[-1], "confirmed": True}
    path = "/api/conversations/monday/forget-range"
    return asyncio.create_task(client.post(path, json=body))


async def forgotten(client: httpx.AsyncClient, life: Life, said: list[str]) -> float:
    """Flag a range and take it back, once Neo4j is quick enough. Returns how long it took."""
    while True:
        started = time.monotonic()
        answer = await forgetting(client, said)
        took = time.monotonic() - started
        if answer.status_code == 200:
            await take_back(life, said)
            return took


async def take_back(life: Life, said: list[str]) -> None:
    source = ReversalSource.MEMORY_MANAGER
    patient = life.graph.with_limit(60)
    scope = UndoScope("monday", is_admin=False)
    await undo_flags(
        patient, life.caller, scope, said, source, RULES, range_id=None, now=datetime.now(UTC)
    )


@pytest.mark.timeout(3600)
@pytest.mark.spec("FLAG-11")
async def test_a_range_is_flagged_whole_or_not_at_all_when_the_api_is_killed(
    life: Life, settings: Settings, tmp_path: Path
) -> None:
    said, headers = await a_long_story(life), await headers_of(life)
    chance, ends, answered, takes = random.Random(3), Counter[bool](), 0, 0.0

    for place in range(KILLS):
        port, log = free_port(), tmp_path / f"api-{place}.log"
        address = f"http://127.0.0.1:{port}"
        own = settings.model_copy(update={"api_port": port})
        with running([sys.executable, "-m", "api"], own, log) as process:
            wait_until(lambda at=address: answers(f"{at}/api/health"), process, log)  # type: ignore[misc]
            async with httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as client:
                await forgotten(client, life, said[:2])  # connected, and known
                if not takes:
                    await forgotten(client, life, said)
                    takes = await forgotten(client, life, said)
                asked = forgetting(client, said)
                await asyncio.sleep(chance.uniform(0, takes))
                process.kill()
                answered += asked.done()
                await asyncio.gather(asked, return_exceptions=True)
        await asyncio.sleep(1.0)  # whatever Neo4j was doing for it is over
        ends[await whole_or_nothing(life, said)] += 1
    print(f"API: {summary(ends, answered)}")


@pytest.mark.timeout(7200)
@pytest.mark.spec("FLAG-11")
async def test_a_range_is_flagged_whole_or_not_at_all_when_neo4j_is_killed(
    settings: Settings, tmp_path: Path
) -> None:
    """A Neo4j of its own, killed at any moment of the flagging, the commit among them."""
    place = neo4j_place(tmp_path / "neo4j")
    neo4j = start_neo4j(INSTALLED, place, PASSWORD)
    own = settings.model_copy(
        update={"neo4j_uri": place.uri, "neo4j_password": SecretStr(PASSWORD)}
    )
    graph, embedder = Graph.open(own), word_embedder()
    chance, ends, answered = random.Random(3), Counter[bool](), 0
    try:
        await migrate(graph)
        await claim_model(graph, open_embedder(own))
        life = Life(graph, "test", embedder)
        await add_tenant(graph, life.tenant_id, name="Test", now=datetime.now(UTC))
        await life.begin()
        said, headers = await a_long_story(life), await headers_of(life)
        with local_api(own, tmp_path) as address:
            async with httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as client:
                await forgotten(client, life, said)
                takes = await forgotten(client, life, said)
                for _ in range(NEO4J_KILLS):
                    await forgotten(client, life, said[:2])  # a new Neo4j has its plans to make
                    asked = forgetting(client, said)
                    await asyncio.sleep(chance.uniform(0, takes))
                    neo4j.kill()
                    answered += asked.done()
                    neo4j.wait()
                    neo4j = await asyncio.to_thread(start_neo4j, INSTALLED, place, PASSWORD)
                    answer = await asked  # by now the API has given up, or tried again
                    whole = await whole_or_nothing(life, said)
                    assert answer.status_code == 503 or whole, answer.text
                    ends[whole] += 1
    finally:
        await graph.close()
        embedder.close()
        end(neo4j)
    print(f"Neo4j: {summary(ends, answered)}")
