"""What was recalled is counted: later, all of it, and once."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from redis.asyncio import Redis

from engine.memory.uses import Use
from engine.recall import uses
from engine.recall.uses import GROUP, STREAM, UseLog, count_recorded_uses, next_entries
from engine.settings import Settings
from engine.store.broker import open_broker
from tests.lives import FIRST_NIGHT, Life

LATER = FIRST_NIGHT + timedelta(days=1)


@pytest.fixture
async def redis(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Redis]:
    """A stream of the test's own in the run's Redis."""
    opened = open_broker(settings)
    monkeypatch.setattr(uses, "STREAM", f"{STREAM}:test")
    await opened.delete(uses.STREAM)
    yield opened
    await opened.delete(uses.STREAM)
    await opened.aclose()


def use(life: Life, id_: str, *memory_ids: str) -> Use:
    return Use(id_, life.tenant_id, "ada", memory_ids, LATER)


@pytest.mark.spec("SEARCH-05")
async def test_each_use_counts_accesses_raises_salience_and_strengthens_links(
    life: Life, redis: Redis
) -> None:
    first, second, third = await life.remember("red house", "red tree", "blue sea")
    before = await life.memory(first)
    links = {(link.from_id, link.to_id, link.type): link for link in await life.links()}
    log = UseLog(redis)

    for number in range(5):
        await log.record(use(life, f"u{number}", first, second))
    await log.record(use(life, "other", third, "no such memory"))
    assert await count_recorded_uses(life.graph, redis, now=LATER) == 6

    counts = {memory.memory_id: memory.access_count for memory in await life.memories(now=LATER)}
    assert counts == {first: 5, second: 5, third: 1}
    after = await life.memory(first, now=LATER)
    assert after.salience > before.salience
    stronger = [
        link
        for link in await life.links()
        if link.strength > links[link.from_id, link.to_id, link.type].strength
    ]
    assert stronger
    assert {(link.from_id, link.to_id) for link in stronger} <= {(first, second), (second, first)}
    assert all(link.coactivations == 5 for link in stronger)
    assert await count_recorded_uses(life.graph, redis, now=LATER) == 0


@pytest.mark.spec("SEARCH-05")
async def test_what_a_dead_job_has_read_is_counted_by_another_and_once(
    life: Life, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = await life.remember("red house")
    log = UseLog(redis)
    for number in range(250):
        await log.record(use(life, f"u{number}", first))
    await redis.xgroup_create(uses.STREAM, GROUP, id="0")
    died_before = await next_entries(redis)  # read, and then the process was gone
    counted = [await life.memory(first, now=LATER)]
    monkeypatch.setattr(uses, "STALE_AFTER", timedelta(0))

    def die_after_the_commit(*_: object, **__: object) -> None:
        raise ConnectionError

    monkeypatch.setattr(Redis, "pipeline", die_after_the_commit)
    with pytest.raises(ConnectionError):
        await count_recorded_uses(life.graph, redis, now=LATER)
    counted.append(await life.memory(first, now=LATER))
    monkeypatch.undo()
    monkeypatch.setattr(uses, "STREAM", f"{STREAM}:test")
    monkeypatch.setattr(uses, "STALE_AFTER", timedelta(0))
    await asyncio.gather(*(count_recorded_uses(life.graph, redis, now=LATER) for _ in range(3)))

    assert len(died_before) == 100
    assert [memory.access_count for memory in counted] == [0, 100]
    assert (await life.memory(first, now=LATER)).access_count == 250
    assert (await redis.xpending(uses.STREAM, GROUP))["pending"] == 0
    assert await redis.xlen(uses.STREAM) == 0


@pytest.mark.spec("SEARCH-05")
async def test_while_redis_is_away_uses_wait_and_go_with_the_next(life: Life, redis: Redis) -> None:
    (first,) = await life.remember("red house")
    away = Redis(host="127.0.0.1", port=1, socket_connect_timeout=0.2)
    log = UseLog(away)

    await log.record(use(life, "one", first))
    await log.record(use(life, "two", first))
    log._redis = redis
    await log.record(use(life, "three", first))
    await count_recorded_uses(life.graph, redis, now=LATER)

    assert (await life.memory(first, now=LATER)).access_count == 3
    await away.aclose()
