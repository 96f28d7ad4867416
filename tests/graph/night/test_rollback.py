"""A night that dies, is done twice, is previewed, or is taken back."""

import asyncio
import os
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

import cypher
from engine.errors import NightUnderWay, RunNotFound, RunsAfter
from engine.memory.links import add_link
from engine.memory.memories import change_memory, minimize_memory
from engine.memory.models import LinkType
from engine.models import MemoryType
from engine.night import integrate, link
from engine.night.ledger import Run, get_run, list_changes
from engine.night.undo import undo_run
from engine.policy.policy import Layer
from engine.policy.stored import set_persona_policy
from engine.store.graph import Graph
from tests.lives import BORN, FIRST_NIGHT, Life

DAY = timedelta(days=1)


class Killed(BaseException):
    """The worker is gone: nothing of it runs any more, not even what cleans up."""


class Dying(Graph):
    """A graph whose worker dies before its nth transaction, or just after it."""

    def __init__(self, graph: Graph, die_at: int, *, after: bool) -> None:
        super().__init__(graph._driver, database=graph._database, patience=graph._patience)
        self._limit = graph._limit
        self.left, self.after, self.dead = [die_at], after, [False]

    async def write(self, name: str, /, **parameters: Any) -> list[dict[str, Any]]:
        async with self.counted():
            return await super().write(name, **parameters)

    async def write_with(self, work: Any, *, name: str = "transaction") -> Any:
        async with self.counted():
            return await super().write_with(work, name=name)

    @asynccontextmanager
    async def counted(self) -> AsyncIterator[None]:
        if self.dead[0]:
            raise Killed
        self.left[0] -= 1
        if self.left[0] <= 0 and not self.after:
            self.dead[0] = True
            raise Killed
        yield
        if self.left[0] <= 0:
            self.dead[0] = True
            raise Killed


async def a_past(life: Life) -> None:
    """Two weeks that leave a night something to do in every stage."""
    for day in range(3):
        at = BORN + day * DAY
        await life.say(
            f"My pottery class with clay kiln number {day}",
            "I went for a long run along the wide river this morning"
            + ("", " again", " today")[day],
            f"Something else happened on day {day}, quite unlike the rest",
            at=at,
        )
        await life.propose(
            f"Sam lives in {day}",
            at=at,
            memory_type=MemoryType.SEMANTIC,
            kind="fact",
            subject="Sam",
            attribute="home",
            value=f"city {day}",
        )
        if day < 2:
            await life.night(at + timedelta(hours=39))
    kept = sorted(memory.memory_id for memory in await life.memories())
    now = BORN + 2 * DAY
    for place, memory_id in enumerate(kept[1:]):
        await add_link(
            life.graph,
            life.caller,
            memory_id,
            kept[0],
            LinkType.ENABLES,
            strength=0.4 if place % 2 else 0.05,
            now=now,
        )
    await life.use(*kept, at=now + timedelta(hours=30))
    for place, memory_id in enumerate(kept):
        await life.ask(
            """
            MATCH (m:Memory {tenant_id: $t, id: $id})
            SET m.fades_at = $now - duration('P1D'), m.idle_since = $now - duration({days: $days}),
                m.formed_at = $now - duration('P100D'), m.access_count = $place % 2,
                m.importance = 1 + $place % 4, m.idle_importance = 1 + $place % 4
            WITH m MATCH (m)-[l:ENABLES]->()
            SET l.coactivated_at = CASE WHEN $place % 3 = 0 THEN null ELSE l.coactivated_at END,
                l.strength = CASE WHEN $place % 2 = 1 THEN 0.05 ELSE l.strength END""",
            id=memory_id,
            now=now,
            days=31 + 30 * (place % 3),
            place=place,
        )


LAST_NIGHT = BORN + 2 * DAY + timedelta(hours=39)


@pytest.fixture
async def past(life: Life, monkeypatch: pytest.MonkeyPatch) -> Life:
    """Small batches, so that there are many steps to die between."""
    monkeypatch.setattr(integrate, "BATCH_SIZE", 2)
    monkeypatch.setattr(link, "BATCH_SIZE", 1)
    monkeypatch.setattr("engine.night.distil.BATCH_SIZE", 1)
    monkeypatch.setattr("engine.night.fade.STRENGTHEN_BATCH", 1)
    monkeypatch.setattr("engine.night.fade.FADE_BATCH", 2)
    monkeypatch.setattr("engine.night.fade.PRUNE_BATCH", 1)
    await a_past(life)
    return life


def all_of(run: Run) -> dict[str, int]:
    # Whoever covers messages first has covered them, in whichever try.
    stages = [stage for stage in run.stages if stage.stage != "checkpoints"]
    return {name: count for stage in stages for name, count in stage.did.items() if count}


async def test_the_past_of_these_tests_gives_every_stage_something_to_do(past: Life) -> None:
    run = await past.night(LAST_NIGHT)

    done = all_of(run)
    assert {
        "formed",
        "merged",
        "linked",
        "facts_closed",
        "distilled",
        "strengthened",
        "pruned",
        "decayed",
        "archived",
    } <= set(done)


@pytest.mark.spec("CONS-13")
async def test_after_a_rollback_the_graph_is_what_it_was_property_by_property(past: Life) -> None:
    before = await past.everything()
    run = await past.night(LAST_NIGHT)
    after = await past.everything()
    assert after != before

    kept = await undo_run(past.graph, past.tenant_id, run.id, now=LAST_NIGHT, undone_by="test")

    assert kept == []
    assert await past.everything() == before
    undone = await get_run(past.graph, past.tenant_id, run.id)
    assert (undone.state, undone.undone_by) == ("undone", "test")

    again = await past.night(LAST_NIGHT)  # the day is free again, and comes to the same
    assert (again.state, again.id != run.id) == ("done", True)
    assert await past.everything() == after


@pytest.mark.spec("CONS-13")
async def test_nights_are_taken_back_from_the_newest_to_the_oldest(life: Life) -> None:
    states, runs = [await life.everything()], []
    for day in range(4):
        await life.say(f"Story number {day} of the river and the kiln", at=BORN + day * DAY)
        states[-1] = await life.everything()
        runs.append(await life.night(BORN + day * DAY + timedelta(hours=39)))
        states.append(await life.everything())

    with pytest.raises(RunsAfter):
        await undo_run(life.graph, life.tenant_id, runs[0].id, now=LAST_NIGHT, undone_by="test")
    for run in reversed(runs):
        await undo_run(life.graph, life.tenant_id, run.id, now=LAST_NIGHT, undone_by="test")

    assert await life.memories() == []
    assert len(await life.candidates()) == 4
    assert await life.links() == []
    assert (
        await undo_run(life.graph, life.tenant_id, runs[0].id, now=LAST_NIGHT, undone_by="test")
        == []
    )
    with pytest.raises(RunNotFound):
        await undo_run(life.graph, life.tenant_id, "nothing", now=LAST_NIGHT, undone_by="test")


async def test_a_rollback_after_a_change_of_policy_leaves_the_policy_to_the_next_night(
    past: Life,
) -> None:
    await set_persona_policy(
        past.graph, past.tenant_id, "ada", Layer(figures={"decay_days": 3, "prune_below": 0.6})
    )
    before = await past.everything()
    run = await past.night(LAST_NIGHT)
    after = await past.everything()

    await undo_run(past.graph, past.tenant_id, run.id, now=LAST_NIGHT, undone_by="test")

    assert await past.everything() == before
    await past.night(LAST_NIGHT)
    assert await past.everything() == after


async def test_what_somebody_changed_since_the_night_is_kept_by_a_rollback_and_told(
    life: Life,
) -> None:
    (memory_id,) = await life.remember("red house")
    night = await life.night(FIRST_NIGHT + 31 * DAY)
    assert (await life.memory(memory_id)).importance == 4
    await change_memory(
        life.graph, life.caller, memory_id, changes={"importance": 9}, now=FIRST_NIGHT + 32 * DAY
    )

    kept = await undo_run(
        life.graph, life.tenant_id, night.id, now=FIRST_NIGHT + 32 * DAY, undone_by="test"
    )

    assert kept == [f"importance of {memory_id}"]
    assert (await life.memory(memory_id)).importance == 9


@pytest.mark.spec("CONS-13")
async def test_a_preview_tells_exactly_what_the_night_then_does_and_changes_nothing(
    past: Life,
) -> None:
    before = await past.everything()

    planned, diff = await past.preview(LAST_NIGHT)
    assert await past.everything() == before
    run = await past.night(LAST_NIGHT)

    done = await list_changes(past.graph, past.tenant_id, run.id, limit=1000)
    assert planned.state == "planned"
    assert all_of(planned) == all_of(run)
    assert [change.kind for change in diff] == [change.kind for change in done.items]
    assert diff == done.items
    with pytest.raises(RunNotFound):
        await get_run(past.graph, past.tenant_id, planned.id)


async def transactions_of(past: Life) -> tuple[Run, int]:
    """A clean night, and how many transactions it takes."""
    steady = past.graph
    past.graph = counting = Dying(steady, 10_000, after=False)
    clean = await past.night(LAST_NIGHT)
    past.graph = steady
    return clean, 10_000 - counting.left[0]


def some_of(transactions: int) -> list[int]:
    """Where to die: everywhere in the long form, here and there in the short one."""
    everywhere = range(1, transactions + 1)
    if os.environ.get("FAULT_ROUNDS"):
        return list(everywhere)
    return sorted({1, 2, transactions, *random.Random(7).sample(everywhere, 7)})


@pytest.mark.timeout(1800)
@pytest.mark.spec("CONS-09")
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_worker_killed_at_any_transaction_is_followed_by_one_that_ends_the_same(
    past: Life, after: bool
) -> None:
    for _ in range(2):  # what was in no checkpoint is in one after the first, and stays there
        clean, transactions = await transactions_of(past)
        wanted, counts, steady = await past.everything(), all_of(clean), past.graph
        await undo_run(past.graph, past.tenant_id, clean.id, now=LAST_NIGHT, undone_by="test")
    assert transactions > 25

    for die_at in some_of(transactions):
        past.graph = Dying(steady, die_at, after=after)
        with pytest.raises(Killed):
            await past.night(LAST_NIGHT)
        past.graph = steady
        await past.ask("MATCH (p:Persona {tenant_id: $t}) REMOVE p.run_until")  # its lease is over
        begun = after or die_at > 1
        run = await past.night(LAST_NIGHT + begun * timedelta(hours=die_at % 9))

        assert await past.everything() == wanted, die_at
        assert all_of(run) == counts
        await undo_run(past.graph, past.tenant_id, run.id, now=LAST_NIGHT, undone_by="test")


@pytest.mark.timeout(1800)
@pytest.mark.spec("CONS-09", "CONS-13")
async def test_a_rollback_that_dies_half_way_is_finished_by_whoever_comes_next(past: Life) -> None:
    before, steady = await past.everything(), past.graph
    run, _ = await transactions_of(past)
    after, rounds = await past.everything(), 0

    for die_at in (1, 2, 5, 9, 14):
        with pytest.raises(Killed):
            await undo_run(
                Dying(steady, die_at, after=True),
                past.tenant_id,
                run.id,
                now=LAST_NIGHT,
                undone_by="test",
            )
        await past.ask("MATCH (p:Persona {tenant_id: $t}) REMOVE p.run_until")
        if die_at % 2:  # another try takes it to the end
            await undo_run(steady, past.tenant_id, run.id, now=LAST_NIGHT, undone_by="test")
            assert await past.everything() == before
            run = await past.night(LAST_NIGHT)
        else:  # and so does the next night, before it begins
            undone, run = run, await past.night(LAST_NIGHT)
            assert (await get_run(steady, past.tenant_id, undone.id)).state == "undone"
        assert await past.everything() == after
        rounds += 1

    assert rounds == 5


@pytest.mark.spec("CONS-09")
async def test_two_workers_at_once_do_the_work_once(past: Life) -> None:
    clean, _ = await transactions_of(past)
    wanted, counts = await past.everything(), all_of(clean)
    await undo_run(past.graph, past.tenant_id, clean.id, now=LAST_NIGHT, undone_by="test")

    ends = await asyncio.gather(*(past.night(LAST_NIGHT) for _ in range(4)), return_exceptions=True)

    runs = [end for end in ends if isinstance(end, Run)]
    assert [run.state for run in runs].count("done") == 1
    assert {type(end) for end in ends} <= {Run, NightUnderWay}
    assert await past.everything() == wanted
    assert all_of(next(run for run in runs if run.state == "done")) == counts


@pytest.mark.spec("CONS-16")
async def test_a_snapshot_is_what_reading_every_memory_would_have_counted(past: Life) -> None:
    pinned, turned_down = sorted(memory.memory_id for memory in await past.memories())[:2]
    for memory_id in (pinned, turned_down):
        await change_memory(
            past.graph, past.caller, memory_id, changes={"pinned": True}, now=LAST_NIGHT
        )
    await minimize_memory(past.graph, past.caller, turned_down, modifier=0.2, now=LAST_NIGHT)
    await past.say("I am so happy about my new flat, I love it!!", at=BORN + 2 * DAY)
    run = await past.night(LAST_NIGHT)

    rows = await past.ask("MATCH (m:Memory {tenant_id: $t}) RETURN properties(m) AS memory")
    memories = [row["memory"] for row in rows]
    active = [memory for memory in memories if memory["state"] == "active"]
    valences = [memory["valence"] for memory in active if memory.get("valence") is not None]
    snapshot = run.snapshot or {}
    assert {state: snapshot["states"].get(state) for state in ("active", "archived")} == {
        state: dict(
            Counter(memory["memory_type"] for memory in memories if memory["state"] == state)
        )
        for state in ("active", "archived")
    }
    assert snapshot["importance"] == [
        sum(memory["importance"] == importance for memory in active) for importance in range(1, 11)
    ]
    assert snapshot["salience"] == [
        sum(int(memory["salience"] * 9.9999) == tenth for memory in active) for tenth in range(10)
    ]
    assert snapshot["pinned"] == sum(memory["pinned"] for memory in active) == 2
    assert snapshot["minimized"] == sum(memory["minimized"] for memory in active) == 1
    assert snapshot["feeling"]["memories"] == len(valences) > 0
    assert snapshot["feeling"]["valence"] == round(sum(valences) / len(valences), 4)


async def test_a_snapshot_is_counted_without_reading_a_memory(past: Life) -> None:
    count = cypher.statement("night/snapshot/count_memories").replace(
        "CYPHER 25", "CYPHER 25 PROFILE"
    )
    (memories,) = await past.ask("MATCH (m:Memory {tenant_id: $t}) RETURN count(m) AS there")

    async with past.graph._driver.session(database=past.graph._database) as session:
        result = await session.run(count, tenant_id=past.tenant_id, persona_id="ada")
        profile = (await result.consume()).profile

    assert 0 < hits(profile or {}) <= memories["there"] + 1  # one for each of the index


def hits(profile: dict[str, Any]) -> int:
    """How often the parts of a statement went to the store."""
    return int(profile["dbHits"]) + sum(hits(part) for part in profile.get("children", []))


async def test_a_stage_that_found_less_than_it_can_take_does_not_look_again(life: Life) -> None:
    await life.remember("a walk along the river")
    steady, taken = life.graph, []
    for day, said in ((5, None), (6, "a concert in the park")):
        if said:
            await life.propose(said, at=BORN + 3 * DAY)
        life.graph = counting = Dying(steady, 10_000, after=False)
        run = await life.night(BORN + day * DAY)
        life.graph = steady
        taken.append((all_of(run).get("formed", 0), 10_000 - counting.left[0]))

    (nothing, without), (one, with_one) = taken
    assert (nothing, one) == (0, 1)
    assert with_one == without
