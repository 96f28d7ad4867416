"""Uses are counted, all of them and once, whoever dies while counting."""

import asyncio
import os
import random
import time
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from celery import Celery

from engine.broker import open_broker
from engine.memories import Use
from engine.settings import Settings
from engine.uses import UseLog
from tests.lives import FIRST_NIGHT, Life
from tests.servers import local_worker

LONG = bool(os.environ.get("FAULT_ROUNDS"))  # `make faults`
USES, KILLS = (10_000, 5) if LONG else (600, 2)
PATIENCE = 300 if LONG else 120  # seconds; what a dead worker has read is given out after 30

pytestmark = pytest.mark.timeout(600)


@pytest.mark.spec("SEARCH-05")
async def test_uses_told_while_workers_are_killed_are_counted_exactly(
    life: Life, settings: Settings, tmp_path: Path
) -> None:
    ids = await life.remember("red house", "red tree", "blue sea")
    chance = random.Random(7)
    wanted = dict.fromkeys(ids, 0)
    redis = open_broker(settings)
    jobs = Celery(broker=settings.redis_url)
    log = UseLog(redis)
    moments = sorted(chance.sample(range(USES // 10, USES), KILLS))
    killed = 0
    try:
        for life_of_worker in [*zip([0, *moments], [*moments, USES], strict=True)]:
            with local_worker(settings, tmp_path) as worker:
                for number in range(*life_of_worker):
                    used = chance.sample(ids, 2)
                    for it in used:
                        wanted[it] += 1
                    use = Use(f"u{number}", life.tenant_id, "ada", tuple(used), datetime.now(UTC))
                    await log.tell(use)
                    if number % 50 == 0:
                        jobs.send_task("tasks.jobs.count_uses")
                if life_of_worker[1] < USES:
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
        await redis.aclose()

    assert killed == KILLS
    assert sum(wanted.values()) == 2 * USES
    assert await counted(life) == wanted
    print(f"\n{USES} uses, {killed} workers killed: every one counted once")


async def counted(life: Life) -> dict[str, int]:
    return {it.memory_id: it.access_count for it in await life.memories(now=FIRST_NIGHT)}
