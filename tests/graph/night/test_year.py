"""A year of daily use: nothing runs away, and nothing becomes the same."""

import random
from datetime import timedelta

import pytest

from engine.policy.policy import merge_layers, salience_after
from tests.curves import salience_used
from tests.lives import BORN, FIRST_NIGHT, Life

DAY = timedelta(days=1)
MEMORIES = 40


@pytest.mark.timeout(600)
@pytest.mark.spec("CONS-14")
async def test_after_a_year_of_daily_use_few_stand_at_the_top_and_rankings_still_differ(
    life: Life,
) -> None:
    """Some memories are used many times every day, most now and then, some never."""
    chance = random.Random(42)
    names = [f"story{place} of{place} its{place} own{place}" for place in range(MEMORIES)]
    ids = await life.remember(*names)
    weights = [1 / (1 + place) for place in range(MEMORIES - 5)]  # the last five are never used
    for day in range(1, 366):
        now = FIRST_NIGHT + day * DAY
        for turn in range(4):
            used = set(chance.choices(ids[:-5], weights, k=4))
            await life.use(*used, at=now + timedelta(hours=8 + turn))
        if day % 7 == 0:
            await life.night(now)

    year_later = FIRST_NIGHT + 366 * DAY
    memories = {memory.memory_id: memory for memory in await life.memories(now=year_later)}
    saliences = [
        memories[memory_id].salience if memory_id in memories else 0.0 for memory_id in ids
    ]
    above = sum(salience > 0.9 for salience in saliences)
    assert above <= 0.2 * MEMORIES
    assert max(saliences) < 0.95
    often, now_and_then, never = saliences[:5], saliences[15:30], saliences[-5:]
    assert min(often) > max(never)
    assert sum(often) / 5 > sum(now_and_then) / 15 > sum(never) / 5
    assert len({round(salience, 3) for salience in saliences[:-5]}) > 20  # rankings still differ


@pytest.mark.spec("CONS-14")
def test_not_even_a_hundred_uses_a_day_bring_a_memory_to_the_top() -> None:
    figures, salience = merge_layers().figures, 0.5
    for _ in range(365):
        salience = salience_after(salience, 1, figures)
        for use in range(100):
            salience = salience_used(salience, use, figures)

    assert 0.7 < salience < 0.9


async def test_the_graph_computes_salience_as_the_policy_does(life: Life) -> None:
    (memory_id,) = await life.remember("red house")
    figures, expected, last = merge_layers().figures, 0.5, FIRST_NIGHT
    for hours, earlier in ((1, 0), (2, 1), (50, 0), (51, 1), (1000, 0)):
        now = BORN.replace(hour=3) + 2 * DAY + timedelta(hours=hours)
        expected = salience_after(expected, (now - last) / DAY, figures)
        expected = salience_used(expected, earlier, figures)
        await life.use(memory_id, at=now)
        last = now

        assert (await life.memory(memory_id, now)).salience == pytest.approx(expected, abs=1e-6)
    later = last + 20 * DAY
    assert (await life.memory(memory_id, later)).salience == pytest.approx(
        salience_after(expected, 20, figures), abs=1e-6
    )
