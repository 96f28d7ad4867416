"""Forgotten shapes: drawn by the night from what was archived, without what it said."""

from datetime import timedelta
from typing import Any

import pytest

from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message, undo_message
from engine.forgetting.models import ReversalSource
from engine.memory.memories import archive_memory, unarchive_memory
from engine.memory.models import MemoryState
from engine.memory.shapes import Shape, list_shapes
from engine.models import MemoryType
from engine.night.undo import undo_run
from tests.lives import BORN, FIRST_NIGHT, RULES, Life

DAY = timedelta(days=1)
LOST = [
    "Sam: I baked a plum cake with cardamom for the garden party",
    "Sam: The garden was full of foxgloves when Ottilie came by",
    "Sam: We planted quinces in the garden near the Zanzibar wall",
    "Sam: My guitar broke a string at the 1987 reunion concert",
    "Sam: The guitar lesson with Barnaby went on for hours",
    "Sam: A long walk along the Tiergarten canal in the rain",
]
LIVING = [
    "Sam: The kiln at the pottery studio is warm again",
    "Sam: My kiln has cracked during the second firing",
    "Sam: Somebody opened the kiln too soon this morning",
    "Sam: The soup needed much more pepper than I thought",
]


async def forget(life: Life, *ids: str, at: Any = FIRST_NIGHT + DAY) -> None:
    for memory_id in ids:
        await archive_memory(life.graph, life.caller, memory_id, now=at)


async def shapes(life: Life) -> list[Shape]:
    return (await list_shapes(life.graph, life.tenant_id, "ada", limit=100)).items


async def a_life(life: Life) -> tuple[list[str], list[str]]:
    """What Ada remembers: the ids of what is to be lost, and of what stays."""
    ids = [await life.propose(text, who="Sam", said=text) for text in [*LOST, *LIVING]]
    await life.night()
    return ids[: len(LOST)], ids[len(LOST) :]


async def covered(life: Life) -> dict[str, int]:
    """Of each archived, unflagged memory that is no shape: how many living shapes it has."""
    rows = await life.ask(
        """
        MATCH (m:Memory {tenant_id: $t, state: 'archived', flagged: false})
        WHERE m.memory_type <> 'forgotten_shape'
        RETURN m.id AS id, COUNT {
          MATCH (m)-[:SHAPED_INTO]->(s) WHERE s.state IN ['active', 'archived']
        } AS shapes"""
    )
    return {row["id"]: row["shapes"] for row in rows}


@pytest.mark.spec("SHAPE-01", "SHAPE-02", "SHAPE-03")
async def test_a_night_draws_one_shape_of_what_was_archived(life: Life) -> None:
    lost, _ = await a_life(life)
    await forget(life, *lost)

    night = await life.night(FIRST_NIGHT + 2 * DAY)
    await life.night(FIRST_NIGHT + 3 * DAY)

    (shape,) = await shapes(life)
    memory = await life.memory(shape.shape_id, now=FIRST_NIGHT + 3 * DAY)
    did = {stage.stage: stage.did for stage in night.stages}
    assert did["shapes"] == {"drawn": 1, "sources": 6}
    assert memory.memory_type is MemoryType.FORGOTTEN_SHAPE
    assert (memory.importance, memory.state) == (3, MemoryState.ACTIVE)
    assert shape.title == "Forgotten Shape -- 2026-05-05"
    assert shape.sources == 6
    assert shape.drawn_by == "night"
    assert 0 <= shape.emotional_residue <= 1
    assert shape.decayed_at == FIRST_NIGHT + 2 * DAY
    assert set(shape.connected_themes.split(", ")) == {
        "garden",
        "guitar",
        "cake",
        "party",
        "concert",
    }
    assert memory.content["memories"] == 6
    assert await covered(life) == dict.fromkeys(lost, 1)


async def test_undoing_the_night_takes_its_shape_back_whole(life: Life) -> None:
    lost, _ = await a_life(life)
    await forget(life, *lost)
    before = await life.everything()

    night = await life.night(FIRST_NIGHT + 2 * DAY)
    kept = await undo_run(
        life.graph, life.tenant_id, night.id, now=FIRST_NIGHT + 2 * DAY, undone_by="test"
    )

    assert kept == []
    assert await life.everything() == before
    assert await shapes(life) == []


async def test_a_shape_withdraws_when_a_source_lives_and_is_drawn_again(life: Life) -> None:
    lost, _ = await a_life(life)
    await forget(life, *lost)
    await life.night(FIRST_NIGHT + 2 * DAY)
    (first,) = await shapes(life)

    now = FIRST_NIGHT + 2 * DAY
    await unarchive_memory(life.graph, life.caller, lost[0], now=now)
    withdrawn = await shapes(life)
    stored = await life.memory(first.shape_id)
    before = await life.everything()
    night = await life.night(FIRST_NIGHT + 3 * DAY)
    (again,) = await shapes(life)
    await undo_run(life.graph, life.tenant_id, night.id, now=now + DAY, undone_by="test")

    assert withdrawn == []
    assert (stored.text, stored.content, stored.state) == ("", {}, MemoryState.WITHDRAWN)
    assert again.shape_id == first.shape_id
    assert again.sources == 5
    assert "5 memories" in again.text
    assert await life.everything() == before


async def test_a_flag_takes_its_memory_out_of_the_shape_and_its_undo_brings_it_back(
    life: Life,
) -> None:
    said = await life.say(*(text.removeprefix("Sam: ") for text in LOST))
    await life.night()
    lost = [memory.memory_id for memory in await life.memories()]
    await forget(life, *lost)
    await life.night(FIRST_NIGHT + 2 * DAY)
    (first,) = await shapes(life)
    now = FIRST_NIGHT + 2 * DAY

    await flag_message(life.graph, Templates(), life.caller, said[0], RULES, now=now)
    assert await shapes(life) == []
    (node,) = await life.ask(
        "MATCH (s:ForgottenShape {tenant_id: $t}) RETURN s {.*} AS s, "
        "COUNT { (s)-[:RELATED|PRECEDES|EXTENDS]-() } AS links"
    )
    assert (node["s"]["text"], node["s"]["content"], node["links"]) == ("", "{}", 0)
    assert "embedding" not in node["s"]
    await life.night(FIRST_NIGHT + 3 * DAY)
    (without,) = await shapes(life)
    assert without.sources == first.sources - 1
    assert set((await covered(life)).values()) == {1}
    source = ReversalSource.MEMORY_MANAGER
    await undo_message(life.graph, life.caller, said[0], source, RULES, now=now + DAY)
    await life.night(FIRST_NIGHT + 4 * DAY)

    assert sum(shape.sources for shape in await shapes(life)) == len(lost)
    assert set((await covered(life)).values()) == {1}
    assert now > BORN
