"""Uses are counted, all of them and once, whoever dies while counting."""

import asyncio
import os
import random
import time
from pathlib import Path

import psutil
import pytest
from celery import Celery

from engine.settings import Settings
from tests.api.conftest import NewCaller, app, new_caller
from tests.lives import FIRST_NIGHT, Life
from tests.servers import local_worker

__all__ = ["app", "new_caller"]

LONG = bool(os.environ.get("FAULT_ROUNDS"))  # `make faults`
RECALLS, KILLS = (10_000, 5) if LONG else (600, 2)
AT_ONCE = 10
PATIENCE = 300 if LONG else 120  # seconds; what a dead worker has read is given out after 30

pytestmark = pytest.mark.timeout(600)


@pytest.mark.spec("SEARCH-05")
async def test_recalls_answered_while_workers_are_killed_are_counted_exactly(
    life: Life, new_caller: NewCaller, settings: Settings, tmp_path: Path
) -> None:
    client = await new_caller(life.tenant_id)
    wanted = dict.fromkeys(await life.remember("red house", "red tree", "blue sea"), 0)
    chance = random.Random(7)
    jobs = Celery(broker=settings.redis_url)
    rounds = RECALLS // AT_ONCE
    moments = sorted(chance.sample(range(rounds // 10, rounds), KILLS))
    killed = 0

    async def recall() -> None:
        asked = {"query": chance.choice(("house", "tree", "sea")), "limit": chance.choice((1, 2))}
        answer = await client.post("/api/personas/ada/recall", json=asked)
        for hit in answer.raise_for_status().json()["hits"]:
            wanted[hit["id"]] += 1

    try:
        for first, last in zip([0, *moments], [*moments, rounds], strict=True):
            with local_worker(settings, tmp_path) as worker:
                for number in range(first, last):
                    await asyncio.gather(*(recall() for _ in range(AT_ONCE)))
                    if number % 5 == 0:
                        jobs.send_task("tasks.jobs.count_uses")
                if last < rounds:
                    await asyncio.sleep(chance.random() / 2)
                    for process in psutil.Process(worker.pid).children(recursive=True):
                        process.kill()
                    worker.kill()
                    killed += 1
                    continue
                deadline = time.monotonic() + PATIENCE
                while await counted(life) != wanted and time.monotonic() < deadline:
                    jobs.send_task("tasks.jobs.count_uses")
                    await asyncio.sleep(1)
    finally:
        jobs.close()

    assert killed == KILLS
    assert sum(wanted.values()) >= RECALLS
    assert await counted(life) == wanted
    print(f"\n{RECALLS} recalls, {killed} workers killed: every use counted once")


async def counted(life: Life) -> dict[str, int]:
    return {
        memory.memory_id: memory.access_count for memory in await life.memories(now=FIRST_NIGHT)
    }
