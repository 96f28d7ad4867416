"""Nights that meet odd items, deaths, changes at the same moment, and ledgers that grow old."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from engine.errors import RunFolded
from engine.memory.links import add_link
from engine.memory.models import CandidateState, LinkType
from engine.night.ledger import Run, get_run, list_changes, list_runs
from engine.night.nights import HOUR, NIGHT, Stage
from engine.night.steps import ActiveRun
from engine.night.undo import undo_run
from engine.policy.policy import Layer
from engine.policy.stored import set_persona_policy
from tests.lives import BORN, FIRST_NIGHT, Life
from tests.plans import profiling

DAY = timedelta(days=1)


async def die(_: ActiveRun) -> dict[str, int]:
    raise ConnectionError


def until(name: str) -> tuple[Stage, ...]:
    """The stages of a night in which the worker dies at one of them."""
    return tuple(Stage(stage.name, die) if stage.name == name else stage for stage in NIGHT)


# ── Deaths ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.spec("CONS-09", "CONS-13")
async def test_a_night_that_died_is_finished_whole_by_the_hour_that_comes_after_it(
    life: Life,
) -> None:
    await life.propose("a walk by the river")
    with pytest.raises(ConnectionError):
        await life.night(stages=until("link"))

    await life.hour(FIRST_NIGHT + timedelta(hours=1))

    runs = (await list_runs(life.graph, life.tenant_id, "ada", cursor=None, limit=10)).items
    states = {run.kind: (run.state, [stage.stage for stage in run.stages]) for run in runs}
    assert states["night"] == ("done", [stage.name for stage in NIGHT])
    assert states["hour"] == ("done", [stage.name for stage in HOUR])
    (persona,) = await life.ask(
        "MATCH (p:Persona {tenant_id: $t}) RETURN p.slept_at AS slept, p.next_night_at AS next"
    )
    assert persona["slept"] == FIRST_NIGHT
    assert persona["next"] == FIRST_NIGHT + DAY


# ── Order ────────────────────────────────────────────────────────────────────────────────────────

SPEC_ORDER = (
    "integrate",
    "link",
    "strengthen",
    "prune",
    "decay",
    "ladder",
    "archive",
    "shapes",
    "checkpoints",
)


@pytest.mark.spec("CONS-08")
async def test_the_stages_of_a_night_follow_each_other_as_specified(life: Life) -> None:
    """By what they wrote down, in a night that has something to do for each of them."""
    old = [
        await life.propose("a walk by the river", chosen_id="walk"),
        await life.propose("a storm over the sea", chosen_id="storm"),
        await life.propose("a key under the mat", chosen_id="key"),
        await life.propose("an apple in the snow", chosen_id="apple"),
    ]
    await life.night()
    for place, strength in ((1, 0.5), (2, 0.05)):
        await add_link(
            life.graph,
            life.caller,
            old[0],
            old[place],
            LinkType.ENABLES,
            strength=strength,
            now=FIRST_NIGHT,
        )
    late = FIRST_NIGHT + 200 * DAY
    await life.use(old[0], old[1], at=late - timedelta(hours=1))
    await life.ask(
        "MATCH (m:Memory {tenant_id: $t, id: 'key'}) "
        "SET m.importance = 1, m.idle_importance = 1, m.fades_at = m.formed_at"
    )
    await life.say("I saw a red kite above the harbour today.", at=late - 2 * DAY)
    await set_persona_policy(life.graph, life.tenant_id, "ada", Layer({"prune_days": 1.0}))

    night = await life.night(late)

    executed = [stage.stage for stage in night.stages if stage.stage in SPEC_ORDER]
    assert executed == [name for name in SPEC_ORDER if name in executed]
    assert set(SPEC_ORDER) - set(executed) == {"ladder"}
    did = {stage.stage: sum(stage.did.values()) for stage in night.stages}
    assert all(did[name] for name in executed), did
    places = [change.stage for change in await all_changes(life, night.id)]
    wrote = [name for name in dict.fromkeys(places) if name in SPEC_ORDER]
    assert wrote == [name for name in SPEC_ORDER if name in wrote]


async def all_changes(life: Life, run_id: str) -> list[Any]:
    page = await list_changes(life.graph, life.tenant_id, run_id, limit=1000)
    return page.items


# ── Odd items ────────────────────────────────────────────────────────────────────────────────────

ODD = {
    "a feeling that is a truth": "SET c.valence = true, c.arousal = false",
    "a feeling in words": "SET c.valence = 'good', c.arousal = '10'",
    "a feeling beyond all numbers": "SET c.valence = '1000000000000000000000000000000'",
    "content that is no JSON": "SET c.content = '{\"said\": '",
    "content that is a list": "SET c.content = '[1, 2]'",
    "no embedding": "REMOVE c.embedding",
}


@pytest.mark.parametrize("change", ODD.values(), ids=ODD.keys())
async def test_one_odd_item_costs_nothing_but_itself(life: Life, change: str) -> None:
    good = [await life.propose(f"story number {place} about boats") for place in range(3)]
    odd = await life.propose("an odd story about trains", at=BORN + timedelta(minutes=1))
    more = await life.propose("a last story about planes", at=BORN + timedelta(minutes=2))
    await life.ask(f"MATCH (c:Candidate {{tenant_id: $t, id: $id}}) {change}", id=odd)

    night = await life.night()
    again = await life.night(FIRST_NIGHT + DAY)

    kept = {
        memory_id["id"]
        for memory_id in await life.ask("MATCH (m:Memory {tenant_id: $t}) RETURN m.id AS id")
    }
    assert {*good, more} <= kept
    assert (night.state, again.state) == ("done", "done")
    assert [stage.stage for stage in night.stages] == [stage.name for stage in NIGHT]
    aside = [change for change in await all_changes(life, night.id) if change.kind == "set_aside"]
    stopped = [
        reason for stage in night.stages for reason in stage.could_not if "stopped" in reason
    ]
    assert stopped == []
    if odd not in kept:
        assert [change.change["id"] for change in aside] == [odd]
        assert night.stages[0].could_not == again.stages[0].could_not == {"set_aside": 1}
        assert all("set_aside" not in stage.did for stage in again.stages)  # it is not tried again
        assert aside[0].change["why"]


async def test_a_night_with_something_set_aside_can_be_taken_back(life: Life) -> None:
    odd = await life.propose("an odd story about trains")
    await life.propose("a story about boats")
    await life.ask("MATCH (c:Candidate {tenant_id: $t, id: $id}) REMOVE c.embedding", id=odd)
    before = await life.everything()
    night = await life.night()

    await undo_run(life.graph, life.tenant_id, night.id, now=FIRST_NIGHT, undone_by="test")

    after = await life.everything()
    persona_node = "['Persona'] ada"
    assert {key: properties for key, properties in after.items() if key != persona_node} == {
        key: properties for key, properties in before.items() if key != persona_node
    }
    assert len(await life.candidates(CandidateState.PENDING)) == 2


# ── At the same moment ───────────────────────────────────────────────────────────────────────────


async def while_it_waits(life: Life, change: str, run: Callable[[], Any], **parameters: Any) -> Any:
    """Run something that meets a change which another transaction has made and not committed."""
    async with life.graph._driver.session(database=life.graph._database) as session:
        transaction = await session.begin_transaction()
        await (
            await transaction.run(f"CYPHER 25 {change}", t=life.tenant_id, **parameters)
        ).consume()
        running = asyncio.create_task(run())
        await asyncio.sleep(1.0)  # until it stands before the lock, or has read without one
        await transaction.commit()
        return await running


async def test_an_importance_given_while_the_night_decays_it_is_kept(life: Life) -> None:
    (old,) = await life.remember("a walk by the river")
    due = FIRST_NIGHT + 30 * DAY + timedelta(minutes=1)

    await while_it_waits(
        life,
        "MATCH (m:Memory {tenant_id: $t, id: $id}) "
        "SET m.importance = 9, m.idle_importance = 9, m.idle_since = $now",
        lambda: life.hour(due),
        id=old,
        now=due,
    )

    assert (await life.memory(old)).importance == 9


async def test_a_use_while_the_night_strengthens_is_added_to_it(life: Life) -> None:
    one, other = await life.remember("a walk by the river", "a storm over the sea")
    await add_link(
        life.graph, life.caller, one, other, LinkType.ENABLES, strength=0.5, now=FIRST_NIGHT
    )
    await life.use(one, other, at=FIRST_NIGHT + timedelta(hours=5))

    await while_it_waits(
        life,
        # Memories are locked before their links, as everywhere.
        "MATCH (m:Memory {tenant_id: $t, id: $id})-[l:ENABLES]->() "
        "SET m.lock = true REMOVE m.lock SET l.strength = 0.8",
        lambda: life.night(FIRST_NIGHT + DAY),
        id=one,
    )

    (link,) = [link for link in await life.links() if link.type is LinkType.ENABLES]
    assert link.strength == pytest.approx(0.8 + 0.2 * 0.05)


async def test_a_policy_changed_during_a_night_is_heard_by_the_next(life: Life) -> None:
    await life.remember("a walk by the river")
    await set_persona_policy(life.graph, life.tenant_id, "ada", Layer({"decay_days": 20.0}))

    async def meanwhile(_: ActiveRun) -> dict[str, int]:
        await set_persona_policy(life.graph, life.tenant_id, "ada", Layer({"decay_days": 10.0}))
        return {}

    place = [stage.name for stage in NIGHT].index("reschedule")
    stages = (*NIGHT[:place], Stage("meanwhile", meanwhile), *NIGHT[place:])
    first = await life.night(FIRST_NIGHT + DAY, stages=stages)
    second = await life.night(FIRST_NIGHT + 2 * DAY)
    third = await life.night(FIRST_NIGHT + 3 * DAY)

    counted = [
        next(stage.did for stage in run.stages if stage.stage == "reschedule")
        for run in (first, second, third)
    ]
    assert counted == [{"rescheduled": 1}, {"rescheduled": 1}, {}]


# ── The ledger grows old ─────────────────────────────────────────────────────────────────────────


async def test_an_old_run_is_folded_to_counts_and_can_no_longer_be_taken_back(life: Life) -> None:
    await set_persona_policy(life.graph, life.tenant_id, "ada", Layer({"ledger_days": 7.0}))
    await life.propose("a walk by the river")
    first = await life.night()
    await life.night(FIRST_NIGHT + 7 * DAY)
    kept = await get_run(life.graph, life.tenant_id, first.id)
    assert kept.folded_at is None
    assert await all_changes(life, first.id) != []

    await life.night(FIRST_NIGHT + 8 * DAY)

    folded = await get_run(life.graph, life.tenant_id, first.id)
    assert folded.folded_at == FIRST_NIGHT + 8 * DAY
    assert [stage.did for stage in folded.stages] == [stage.did for stage in kept.stages]
    assert await all_changes(life, first.id) == []
    (steps,) = await life.ask(
        "RETURN COUNT { MATCH (s:Step {tenant_id: $t, run_id: $id}) } AS count", id=first.id
    )
    assert steps["count"] == 0
    with pytest.raises(RunFolded):
        await undo_run(
            life.graph, life.tenant_id, first.id, now=FIRST_NIGHT + 8 * DAY, undone_by="test"
        )


# ── Cost ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.spec("CONS-12")
async def test_a_night_costs_what_changed_and_not_what_exists(
    life: Life,
) -> None:
    """Whole nights over 1,000 memories: all of them touched, and then one in a hundred."""
    await life.ask(
        """
        MATCH (p:Persona {tenant_id: $t, id: 'ada'})
        UNWIND range(0, 999) AS n
        CREATE (p)-[:REMEMBERS]->(m:Memory:Episodic {
          tenant_id: $t, id: 'm' + n, place: n, persona_id: 'ada', memory_type: 'episodic',
          state: 'active', text: 'story ' + n, content: '{}', said_at: $born, formed_at: $born,
          importance: 10, idle_importance: 10, idle_since: $born, salience: 0.5,
          salience_at: $born, uses_today: 0, access_count: 1, reinforcements: 0,
          weight_modifier: 1.0, pinned: false, flagged: false, minimized: false})""",
        born=BORN,
    )
    await life.ask(
        """
        MATCH (m:Memory {tenant_id: $t})
        MATCH (strong:Memory {tenant_id: $t, id: 'm' + (m.place + 7) % 1000})
        MATCH (weak:Memory {tenant_id: $t, id: 'm' + (m.place + 31) % 1000})
        CREATE (m)-[:RELATED {strength: 0.5, weight_modifier: 1.0}]->(strong)
        CREATE (m)-[:ENABLES {strength: 0.05, weight_modifier: 1.0}]->(weak)"""
    )

    async def night_that_touches(every: int, at: datetime) -> tuple[dict[str, int], Run]:
        """What a night costs, in the store's own units, in which one in so many was touched."""
        await life.ask(
            """
            MATCH (m:Memory {tenant_id: $t}) WHERE m.place % $every = 0
            SET m.stirred_at = $at, m.fades_at = $at, m.prune_at = $at
            WITH m MATCH (m)-[l:RELATED]->() SET l.coactivated_at = $at""",
            every=every,
            at=at - timedelta(hours=1),
        )
        with profiling() as costs:
            night = await life.night(at)
        return {name: cost.total_hits for name, cost in costs.items()}, night

    await life.night(FIRST_NIGHT)
    all_of_them, full = await night_that_touches(1, FIRST_NIGHT + 40 * DAY)
    nearly_none, small = await night_that_touches(100, FIRST_NIGHT + 41 * DAY)

    did = [{stage.stage: stage.did for stage in night.stages} for night in (full, small)]
    assert (did[0]["strengthen"], did[0]["prune"]) == ({"strengthened": 1000}, {"pruned": 1000})
    assert (did[1]["strengthen"], did[0]["decay"]) == ({"strengthened": 10}, {"decayed": 1000})
    # The snapshot alone is counted over all, from one index: an entry each.
    snapshot = sum(
        count for name, count in nearly_none.items() if name.startswith("night/snapshot/")
    )
    assert snapshot < 5 * 1000
    assert sum(nearly_none.values()) - snapshot < 0.02 * sum(all_of_them.values()), nearly_none
    assert sum(nearly_none.values()) < 0.1 * sum(all_of_them.values()), nearly_none
