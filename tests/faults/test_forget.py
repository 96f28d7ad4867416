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

import httpx
import pytest
from pydantic import SecretStr

from engine.embedding import claim_model, open_embedder
from engine.flags import undo
from engine.graph import Graph
from engine.keys import issue_key
from engine.migrations import migrate
from engine.models import ReversalSource, Role
from engine.settings import Settings
from engine.tenants import add_tenant
from ops.ports import free_port
from tests.lives import RULES, Life, word_embedder
from tests.servers import (
    PASSWORD,
    answers,
    end,
    local_api,
    neo4j_place,
    running,
    start_neo4j,
    wait_until,
)

SECONDS = float(os.environ.get("LOAD_SECONDS", "5"))
CLIENTS = int(os.environ.get("LOAD_CLIENTS", "8"))
ROUNDS = int(os.environ.get("FAULT_ROUNDS", "1"))
KILLS = 5 * ROUNDS if ROUNDS > 1 else 4
NEO4J_KILLS = 5 * ROUNDS if ROUNDS > 1 else 2  # each is a start of Neo4j, too
SIZE = 1_000 if ROUNDS > 1 else 300  # messages of a range
MESSAGES = 60


def ago(**delta: float) -> datetime:
    return datetime.now(UTC).replace(microsecond=0) - timedelta(**delta)


async def headers_of(life: Life) -> dict[str, str]:
    issued = await issue_key(
        life.graph, life.tenant_id, name="load", role=Role.ADMIN, now=datetime.now(UTC)
    )
    return {"Authorization": f"Bearer {issued.api_key}"}


@pytest.mark.timeout(600)
@pytest.mark.spec("FLAG-11")
async def test_many_who_flag_undo_and_speak_at_once_leave_everything_consistent(
    life: Life, settings: Settings, tmp_path: Path
) -> None:
    said = await life.say(*(f"story{it} of{it} its{it}" for it in range(MESSAGES)), at=ago(days=3))
    headers = await headers_of(life)
    statuses: Counter[int] = Counter()

    async def warm_up(address: str) -> None:
        """A graph that has just come up plans its first statements slowly."""
        ends = {"first_message_id": said[0], "last_message_id": said[1]}
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as client:
            for path, body in (
                (f"/api/messages/{said[0]}/forget", {}),
                (f"/api/messages/{said[0]}/undo", {}),
                ("/api/conversations/monday/forget-range", ends),
            ):
                await client.post(path, json=body)

    async def somebody(address: str, seed: int, ends_at: float) -> None:
        chance = random.Random(seed)
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=30) as client:
            spoken = 0
            while time.monotonic() < ends_at:
                one, other = chance.choice(said), chance.choice(said)
                match chance.randrange(5):
                    case 0 | 1:
                        answer = await client.post(f"/api/messages/{one}/forget")
                    case 2:
                        answer = await client.post(f"/api/messages/{one}/undo", json={})
                    case 3:
                        body = {"first_message_id": one, "last_message_id": other}
                        answer = await client.post(
                            "/api/conversations/monday/forget-range",
                            json={**body, "confirmed": True},
                        )
                    case _:
                        spoken += 1
                        message = {
                            "message_id": f"new-{seed}-{spoken}",
                            "persona_id": "ada",
                            "role": "user",
                            "content": f"Something new, number {spoken} of {seed}.",
                            "timestamp": ago(minutes=1).isoformat(),
                        }
                        answer = await client.post(
                            "/api/conversations/monday/messages", json={"messages": [message]}
                        )
                statuses[answer.status_code] += 1

    with local_api(settings, tmp_path) as address:
        await warm_up(address)
        ends_at = time.monotonic() + SECONDS
        crowd = [asyncio.create_task(somebody(address, it, ends_at)) for it in range(CLIENTS)]
        await asyncio.sleep(SECONDS / 2)
        night = await life.night(ago(days=1))
        await asyncio.gather(*crowd)

    seen = await life.check_flags()
    # A 503 is told to those who waited too long for the conversation's lock; they may try again.
    assert set(statuses) <= {200, 201, 503}, statuses
    assert statuses[503] < 0.1 * statuses.total(), statuses
    assert statuses[200] > 0
    assert night.state == "done"
    assert seen["events"] > 0
    print(f"{CLIENTS} clients, {SECONDS:.0f} s: {dict(statuses)}, {seen}")


async def a_long_story(life: Life) -> list[str]:
    said: list[str] = []
    for start in range(0, SIZE, 100):
        texts = (f"story{it} of{it}" for it in range(start, start + 100))
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


def told(ends: Counter[bool], answered: int) -> str:
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
    await undo(patient, life.caller, "monday", said, source, RULES, datetime.now(UTC))


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
    print(f"API: {told(ends, answered)}")


@pytest.mark.timeout(7200)
@pytest.mark.spec("FLAG-11")
async def test_a_range_is_flagged_whole_or_not_at_all_when_neo4j_is_killed(
    settings: Settings, tmp_path: Path
) -> None:
    """A Neo4j of its own, killed at any moment of the flagging, the commit among them."""
    place = neo4j_place(tmp_path / "neo4j")
    neo4j = start_neo4j(place)
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
                    neo4j = await asyncio.to_thread(start_neo4j, place)
                    answer = await asked  # by now the API has given up, or tried again
                    whole = await whole_or_nothing(life, said)
                    assert answer.status_code == 503 or whole, answer.text
                    ends[whole] += 1
    finally:
        await graph.close()
        embedder.close()
        end(neo4j)
    print(f"Neo4j: {told(ends, answered)}")
