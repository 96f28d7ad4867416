"""Relearning: what is behind a shape comes back in one step, and only that."""

import asyncio
from datetime import timedelta

import pytest

from engine.errors import MemoryNotFound, NothingToRelearn
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message
from engine.memory.memories import archive_memory, unarchive_memory
from engine.memory.models import MemoryState
from engine.memory.relearning import Relearning, relearn_shape, share_shape
from engine.memory.shapes import NewShape, create_shape, get_shape
from engine.night.undo import undo_run
from engine.recall.hydration import hydrate
from engine.recall.recall import Recall
from tests.changes import WatchedGraph
from tests.graph.night.test_shapes import LOST, a_life, covered, forget, shapes
from tests.lives import FIRST_NIGHT, RULES, Life

DAY = timedelta(days=1)
NIGHT = FIRST_NIGHT + 2 * DAY  # the one that draws
AFTER = FIRST_NIGHT + 3 * DAY


async def relearn(life: Life, shape_id: str, at: timedelta = timedelta(0)) -> Relearning:
    return await relearn_shape(life.graph, life.caller, shape_id, now=AFTER + at)


async def a_shape(life: Life) -> tuple[str, list[str], list[str]]:
    """The shape of what Ada has lost; ids of what is lost, and of what stays."""
    lost, living = await a_life(life)
    await forget(life, *lost)
    await life.night(NIGHT)
    (shape,) = await shapes(life)
    return shape.shape_id, lost, living


async def a_shape_of_shapes(life: Life) -> tuple[str, list[str]]:
    """The one shape of three that have faded; ids of what is behind it."""
    lost, _ = await a_life(life)
    now = FIRST_NIGHT + DAY
    for memory_id in lost[:3]:
        await forget(life, memory_id, at=now)
        now += DAY
        await life.night(now)
    await forget(life, *(shape.shape_id for shape in await shapes(life)), at=now)
    await life.night(now + DAY)
    (deep,) = [shape for shape in await shapes(life) if shape.depth == 2]
    return deep.shape_id, lost[:3]


@pytest.mark.spec("SHAPE-12")
async def test_a_surfaced_shape_says_what_can_be_relearned(life: Life) -> None:
    shape_id, lost, _ = await a_shape(life)
    recall = Recall(life.graph, life.embedder, seconds=0)

    result = await recall.recall(life.tenant_id, "ada", "the guitar in the garden", now=AFTER)
    waking = await hydrate(life.graph, life.embedder, life.tenant_id, "ada", now=AFTER, seed=1)

    assert {hit.id: hit.relearnable for hit in result.hits if hit.relearnable} == {
        shape_id: len(lost)
    }
    pieces = {piece.memory_id: piece.relearnable for piece in waking.pieces if piece.relearnable}
    assert pieces == {shape_id: len(lost)}
    assert (await get_shape(life.graph, life.caller, shape_id)).relearnable == len(lost)
    await recall.close()


@pytest.mark.spec("SHAPE-12")
async def test_relearning_brings_back_all_sources_and_silences_the_shape(life: Life) -> None:
    shape_id, lost, _ = await a_shape(life)
    before = {id_: await life.memory(id_, now=AFTER) for id_ in lost}

    relearned = await relearn(life, shape_id)
    after = {id_: await life.memory(id_, now=AFTER) for id_ in lost}

    assert relearned.memory_ids == sorted(lost)
    assert relearned.withdrawn_shape_ids == [shape_id]
    assert relearned.counts == {"memories": len(lost), "shapes": 1}
    assert {memory.state for memory in after.values()} == {MemoryState.ACTIVE}
    for id_ in lost:
        assert after[id_].access_count == before[id_].access_count + 1
        assert after[id_].salience > before[id_].salience
        assert after[id_].accessed_at == AFTER
    assert await shapes(life) == []
    assert (await life.memory(shape_id)).text == ""


@pytest.mark.spec("SHAPE-12", "CONS-07")
async def test_what_was_relearned_is_not_archived_again(life: Life) -> None:
    shape_id, lost, _ = await a_shape(life)
    await life.ask(
        "MATCH (m:Memory {tenant_id: $t}) WHERE m.id IN $ids "
        "SET m.importance = 1, m.idle_importance = 1",
        ids=lost,
    )

    await relearn(life, shape_id)
    for days in (1, 40, 100, 200):
        await life.night(AFTER + timedelta(days=days))

    states = {(await life.memory(id_)).state for id_ in lost}
    assert states == {MemoryState.ACTIVE}
    assert shape_id not in [shape.shape_id for shape in await shapes(life)]


async def test_relearning_twice_or_by_two_at_once_is_relearning_once(life: Life) -> None:
    shape_id, lost, _ = await a_shape(life)

    both = await asyncio.gather(relearn(life, shape_id), relearn(life, shape_id))
    stored = await life.everything()
    again = await relearn(life, shape_id, at=DAY)

    assert sorted(result.counts["memories"] for result in both) == [0, len(lost)]
    assert again.counts == {"memories": 0, "shapes": 0}
    assert await life.everything() == stored
    assert {(await life.memory(id_)).access_count for id_ in lost} == {1}


@pytest.mark.spec("SHAPE-12")
async def test_what_was_forgotten_on_request_is_not_relearned(life: Life) -> None:
    said = await life.say(*(text.removeprefix("Sam: ") for text in LOST))
    await life.night()
    lost = [memory.memory_id for memory in await life.memories()]
    await forget(life, *lost)
    await life.night(NIGHT)
    (shape,) = await shapes(life)
    await flag_message(life.graph, Templates(), life.caller, said[0], RULES, now=NIGHT)
    rows = await life.ask("MATCH (m:Memory {tenant_id: $t}) WHERE m.flagged RETURN m {.*} AS m")
    flagged = [row["m"] for row in rows]
    assert flagged

    relearned = await relearn(life, shape.shape_id)

    flagged_ids = {memory["id"] for memory in flagged}
    assert set(relearned.memory_ids) == set(lost) - flagged_ids
    rows = await life.ask("MATCH (m:Memory {tenant_id: $t}) WHERE m.flagged RETURN m {.*} AS m")
    assert [row["m"] for row in rows] == flagged
    waking = await hydrate(life.graph, life.embedder, life.tenant_id, "ada", now=AFTER, seed=1)
    assert not flagged_ids & {piece.memory_id for piece in waking.pieces}


@pytest.mark.spec("SHAPE-12")
async def test_a_shape_of_flagged_memories_alone_answers_as_one_without_sources(
    life: Life,
) -> None:
    (said,) = await life.say("The garden was full of foxgloves when Ottilie came by.")
    await life.night()
    (lost,) = [memory.memory_id for memory in await life.memories()]
    await forget(life, lost)
    await life.night(NIGHT)
    (shape,) = await shapes(life)
    by_hand = await create_shape(
        life.graph, life.embedder, life.caller, "ada", NewShape("the sea", ""), now=NIGHT
    )
    await flag_message(life.graph, Templates(), life.caller, said, RULES, now=NIGHT)
    before = await life.everything()

    refusals = []
    for shape_id in (shape.shape_id, by_hand.shape_id):
        with pytest.raises(NothingToRelearn) as refused:
            await relearn(life, shape_id)
        refusals.append(str(refused.value).replace(shape_id, ""))

    assert refusals[0] == refusals[1]
    assert await life.everything() == before


@pytest.mark.spec("SHAPE-12", "SHAPE-07")
async def test_a_shape_of_shapes_relearns_what_is_behind_all_its_levels(life: Life) -> None:
    deep, lost = await a_shape_of_shapes(life)
    stored = await get_shape(life.graph, life.caller, deep)
    assert (stored.sources, stored.relearnable) == (3, 3)

    relearned = await relearn(life, deep, at=20 * DAY)

    assert relearned.memory_ids == sorted(lost)
    assert len(relearned.withdrawn_shape_ids) == 4
    assert await shapes(life) == []
    await life.night(AFTER + 30 * DAY)
    assert await shapes(life) == []


async def test_the_shape_of_one_memory_of_many_leaves_the_others_lost(life: Life) -> None:
    deep, lost = await a_shape_of_shapes(life)
    (first,) = await life.ask(
        "MATCH (:Memory {tenant_id: $t, id: $id})-[:SHAPED_INTO]->(s) RETURN s.id AS id",
        id=lost[0],
    )

    await relearn(life, first["id"], at=20 * DAY)
    await life.night(AFTER + 30 * DAY)

    assert await covered(life) == dict.fromkeys(lost[1:], 1)
    (drawn,) = [shape for shape in await shapes(life) if shape.depth == 2]
    assert (drawn.shape_id, drawn.relearnable) == (deep, 2)


async def test_a_night_that_drew_what_was_relearned_can_be_undone(life: Life) -> None:
    lost, _ = await a_life(life)
    await forget(life, *lost)
    night = await life.night(NIGHT)
    (shape,) = await shapes(life)
    await relearn(life, shape.shape_id)

    await undo_run(life.graph, life.tenant_id, night.id, now=AFTER, undone_by="test")

    assert {(await life.memory(id_)).state for id_ in lost} == {MemoryState.ACTIVE}
    with pytest.raises(MemoryNotFound):
        await relearn(life, shape.shape_id)
    await archive_memory(life.graph, life.caller, lost[0], now=AFTER)
    await life.night(AFTER + DAY)
    assert await covered(life) == {lost[0]: 1}


async def test_what_is_lost_again_after_relearning_is_drawn_again(life: Life) -> None:
    shape_id, lost, _ = await a_shape(life)
    await relearn(life, shape_id)

    await forget(life, *lost[:2], at=AFTER + DAY)
    await life.night(AFTER + 2 * DAY)

    (again,) = await shapes(life)
    assert (again.shape_id, again.sources, again.relearnable) == (shape_id, 2, 2)
    relearned = await relearn(life, shape_id, at=3 * DAY)
    assert relearned.memory_ids == sorted(lost[:2])


async def test_relearning_and_sharing_log_what_they_change(life: Life) -> None:
    shape_id, lost, _ = await a_shape(life)
    await life.ask("CREATE (:Persona {tenant_id: $t, id: 'eve', name: 'Eve'})")
    watched = WatchedGraph(life.graph, life.tenant_id)

    for _ in range(2):
        await share_shape(watched, life.embedder, life.caller, shape_id, "eve", now=AFTER)
    for _ in range(2):
        await relearn_shape(watched, life.caller, shape_id, now=AFTER)
    await unarchive_memory(watched, life.caller, lost[0], now=AFTER)

    assert {
        "memory/shapes/relearn_shape",
        "memory/shapes/share_shape",
    } <= watched.logged_by


@pytest.mark.timeout(300)
async def test_a_persona_in_memory_sees_what_was_relearned(life: Life) -> None:
    shape_id, lost, _ = await a_shape(life)
    recall = Recall(life.graph, life.embedder, seconds=0, hot_bytes=2**26)

    async def found() -> set[str]:
        result = await recall.recall(life.tenant_id, "ada", "the guitar lesson", now=AFTER)
        await recall.loaded()
        return {hit.id for hit in result.hits}

    await found()
    before = await found()
    await relearn(life, shape_id)
    after = await found()

    assert shape_id in before
    assert not before & set(lost)
    assert shape_id not in after
    assert set(lost) & after
    await recall.close()
