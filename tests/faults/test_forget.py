"""«Forget This» under load, and with its processes killed: all or nothing, and always consistent.

The short form is part of the tests; `make load` and `make faults` run the long ones.
"""

import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from engine.graph import Graph
from engine.keys import issue_key
from engine.models import Role
from engine.settings import Settings
from ops.ports import free_port
from tests.lives import Life
from tests.servers import answers, local_api, running, wait_until

SECONDS = float(os.environ.get("LOAD_SECONDS", "5"))
CLIENTS = int(os.environ.get("LOAD_CLIENTS", "8"))
ROUNDS = int(os.environ.get("FAULT_ROUNDS", "1"))
KILLS = 5 * ROUNDS if ROUNDS > 1 else 4
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


@pytest.mark.timeout(3600)
@pytest.mark.spec("FLAG-11")
async def test_a_range_is_flagged_whole_or_not_at_all_when_the_api_is_killed(
    life: Life, settings: Settings, tmp_path: Path, graph: Graph
) -> None:
    size = 1_000 if ROUNDS > 1 else 300
    said: list[str] = []
    for start in range(0, size, 100):
        texts = (f"story{it} of{it}" for it in range(start, start + 100))
        said += await life.say(*texts, at=ago(days=2) + timedelta(minutes=start))
    headers = await headers_of(life)
    flagged = "MATCH (m:Message {tenant_id: $t}) WHERE m.flagged RETURN count(m) AS flagged"
    chance, ends = random.Random(3), Counter[int]()

    for place in range(KILLS):
        port, log = free_port(), tmp_path / f"api-{place}.log"
        address = f"http://127.0.0.1:{port}"
        own = settings.model_copy(update={"api_port": port})
        with running([sys.executable, "-m", "api"], own, log) as process:
            wait_until(lambda at=address: answers(f"{at}/api/health"), process, log)  # type: ignore[misc]
            body = {"first_message_id": said[0], "last_message_id": said[-1], "confirmed": True}
            async with httpx.AsyncClient(headers=headers, timeout=60) as client:
                path = f"{address}/api/conversations/monday/forget-range"
                await client.get(f"{address}/api/conversations/monday")  # connected and known
                asked = asyncio.create_task(client.post(path, json=body))
                await asyncio.sleep(chance.choice((0.05, 0.15, 0.5, 1.5, 3.0)))
                os.kill(process.pid, signal.SIGKILL)
                await asyncio.gather(asked, return_exceptions=True)
        await asyncio.sleep(1.0)  # whatever Neo4j was doing for it is over
        (row,) = await life.ask(flagged)
        assert row["flagged"] in (0, size)
        ends[row["flagged"]] += 1
        await life.check_flags()
        await life.ask(
            """
            MATCH (m:Message {tenant_id: $t}) WHERE m.flagged
            REMOVE m.flagged, m.flag_id
            WITH m MATCH (m)<-[:FLAGS]-(f:Flag) DETACH DELETE f"""
        )
        await life.ask("MATCH (e:Event {tenant_id: $t}) DETACH DELETE e")
        await life.ask("MATCH (r:Range {tenant_id: $t}) DETACH DELETE r")
        await life.ask("MATCH (c:Conversation {tenant_id: $t}) SET c.events = 0")
        await life.ask(
            """
            MATCH (n:Candidate {tenant_id: $t}) WHERE n.state = 'suppressed'
            SET n.state = 'pending', n.flagged = false REMOVE n.deprioritized_at"""
        )
    print(f"{size} messages, {KILLS} kills: {dict(ends)}")
