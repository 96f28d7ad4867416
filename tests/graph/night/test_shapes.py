"""Forgotten shapes: drawn by the night from what was archived, without what it said."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from engine.embedding import normalized
from engine.errors import IdTaken, Invalid
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message, undo_message
from engine.forgetting.models import ReversalSource
from engine.memory.duplicates import duplicate_persona
from engine.memory.links import add_link
from engine.memory.memories import NewMemory, archive_memory, remember, unarchive_memory
from engine.memory.models import LinkType, MemoryState
from engine.memory.shapes import NewShape, Shape, create_shape, list_shapes
from engine.models import MemoryType
from engine.night.undo import undo_run
from engine.recall.hydration import hydrate
from engine.recall.recall import Recall
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
    return (await list_shapes(life.graph, life.caller, "ada", limit=100)).items


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
    assert set(shape.connected_themes.split(", ")) == {"garden", "guitar", "cake"}
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


@pytest.mark.spec("SHAPE-02")
async def test_what_a_night_left_out_is_drawn_by_the_next(life: Life) -> None:
    lost, _ = await a_life(life)
    await forget(life, *lost[:3])
    await life.night(FIRST_NIGHT + 2 * DAY, tools=None)
    assert await shapes(life) == []
    await forget(life, *lost[3:], at=FIRST_NIGHT + 2 * DAY)

    await life.night(FIRST_NIGHT + 3 * DAY)

    (shape,) = await shapes(life)
    assert shape.sources == len(lost)


@pytest.mark.spec("SHAPE-05")
async def test_a_shape_stands_where_its_sources_stood(life: Life) -> None:
    lost, living = await a_life(life)
    for source in lost[:2]:
        await add_link(
            life.graph, life.caller, source, living[0], LinkType.ENABLES, strength=0.5, now=BORN
        )
    await add_link(
        life.graph, life.caller, living[1], lost[0], LinkType.VALIDATES, strength=0.3, now=BORN
    )
    await forget(life, *lost)

    await life.night(FIRST_NIGHT + 2 * DAY)

    (shape,) = await shapes(life)
    links = {
        (link.from_id, link.type, link.to_id): link.strength
        for link in await life.links()
        if shape.shape_id in (link.from_id, link.to_id)
    }
    assert links[shape.shape_id, LinkType.ENABLES, living[0]] == 0.75
    assert links[living[1], LinkType.VALIDATES, shape.shape_id] == 0.3
    assert {end for from_id, _, to_id in links for end in (from_id, to_id)} <= {
        shape.shape_id,
        *living,
    }


@pytest.mark.spec("SHAPE-04")
async def test_few_sources_give_a_vector_of_theme_words_and_many_give_their_centroid(
    life: Life,
) -> None:
    lost, _ = await a_life(life)
    await forget(life, *lost[:3])
    await life.night(FIRST_NIGHT + 2 * DAY)
    await forget(life, *lost[3:], at=FIRST_NIGHT + 2 * DAY)
    await life.ask(
        "MATCH (m:Memory {tenant_id: $t, state: 'active'}) WHERE m.id IN $ids "
        "SET m.state = 'archived'",
        ids=lost,
    )
    texts = [f"Sam: number word{place} beside a garden {'x' * place}" for place in range(6)]
    more = [await life.propose(text, at=FIRST_NIGHT + 3 * DAY) for text in texts]
    await life.night(FIRST_NIGHT + 6 * DAY)
    await forget(life, *more, at=FIRST_NIGHT + 6 * DAY)
    await life.night(FIRST_NIGHT + 7 * DAY)

    rows = await life.ask(
        """
        MATCH (s:ForgottenShape {tenant_id: $t})
        RETURN s.embedding AS vector, s.text AS text, s.title AS title,
          [(m)-[:SHAPED_INTO]->(s) | m.embedding] AS sources,
          [(s)-[:FELT_AS]->(e) | e.connected_themes][0] AS themes
        ORDER BY title"""
    )
    for row in rows:
        words = row["themes"].replace(", ", " ") or row["text"]
        (of_words,) = await life.embedder.embed([words])
        mean = normalized(np.mean(row["sources"], axis=0))
        nearest = max(np.asarray(row["sources"]) @ mean)
        expected = mean if len(row["sources"]) >= 5 and nearest < 0.8 else of_words
        assert np.allclose(row["vector"], expected, atol=1e-4), row["title"]
        assert max(np.asarray(row["sources"]) @ np.asarray(row["vector"])) < 0.8


@pytest.mark.spec("SHAPE-07")
async def test_shapes_fade_into_one_shape_and_a_used_one_stays(life: Life) -> None:
    lost, _ = await a_life(life)
    now = FIRST_NIGHT + DAY
    for place in range(5):
        await forget(life, lost[place], at=now)
        now += DAY
        await life.night(now)
    drawn = await shapes(life)
    assert len(drawn) == 5
    await life.use(drawn[0].shape_id, drawn[1].shape_id, at=now)

    for days in (40, 40, 40, 1):
        now += timedelta(days=days)
        await life.night(now)

    states = {shape.shape_id: shape for shape in await shapes(life)}
    assert [states[shape.shape_id].state for shape in drawn] == ["active"] * 2 + ["archived"] * 3
    assert states[drawn[0].shape_id].access_count == 1
    (of_shapes,) = [shape for shape in states.values() if shape.depth == 2]
    assert of_shapes.sources == 3
    await life.night(now + DAY)
    assert len(await shapes(life)) == len(states)  # and no cascade


@pytest.mark.spec("SHAPE-01")
async def test_a_shape_added_by_hand_is_one_like_any_other(life: Life) -> None:
    await a_life(life)
    new = NewShape("the sea", "Something salty is missing.", 7.5, "long ago", "it mattered", "mine")

    created = [
        await create_shape(life.graph, life.embedder, life.caller, "ada", new, now=FIRST_NIGHT)
        for _ in range(2)
    ]

    assert created[0] == created[1]
    assert (created[0].emotional_residue, created[0].sources) == (1.0, 0)
    assert created[0].drawn_by == "hand"
    assert created[0].title == "Forgotten Shape -- 2026-05-03"
    memory = await life.memory("mine")
    assert memory.memory_type is MemoryType.FORGOTTEN_SHAPE
    await life.night(FIRST_NIGHT + DAY)
    assert [shape.shape_id for shape in await shapes(life)] == ["mine"]
    other = replace(new, felt_absence="Something else.")
    with pytest.raises(IdTaken):
        await create_shape(life.graph, life.embedder, life.caller, "ada", other, now=FIRST_NIGHT)
    with pytest.raises(Invalid):
        long = replace(new, temporal_marker="x" * 101)
        await create_shape(life.graph, life.embedder, life.caller, "ada", long, now=FIRST_NIGHT)


async def test_no_memory_and_no_candidate_is_a_shape(life: Life) -> None:
    shape = NewMemory(MemoryType.FORGOTTEN_SHAPE, "You once knew.", {})

    with pytest.raises(Invalid):
        await remember(life.graph, life.embedder, life.caller, "ada", shape, now=FIRST_NIGHT)
    with pytest.raises(Invalid):
        await life.propose("You once knew.", memory_type=MemoryType.FORGOTTEN_SHAPE)


async def test_a_duplicate_carries_its_shapes(life: Life) -> None:
    lost, _ = await a_life(life)
    await forget(life, *lost)
    await life.night(FIRST_NIGHT + 2 * DAY)
    (shape,) = await shapes(life)
    now = FIRST_NIGHT + 2 * DAY

    await duplicate_persona(life.graph, life.tenant_id, "ada", copy_id="eve", now=now)

    (copy,) = (await list_shapes(life.graph, life.caller, "eve", limit=10)).items
    same = replace(copy, shape_id=shape.shape_id, persona_id="ada")
    assert same == shape
    await life.night(FIRST_NIGHT + 3 * DAY, persona_id="eve")
    assert (await list_shapes(life.graph, life.caller, "eve", limit=10)).items == [copy]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("hot_bytes", [0, 2**26], ids=["graph", "memory"])
@pytest.mark.spec("CTX-06")
async def test_a_shape_is_found_by_recall_and_hydration(life: Life, hot_bytes: int) -> None:
    lost, _ = await a_life(life)
    await forget(life, *lost)
    await life.night(FIRST_NIGHT + 2 * DAY)
    (shape,) = await shapes(life)
    recall = Recall(life.graph, life.embedder, seconds=0, hot_bytes=hot_bytes)
    now = FIRST_NIGHT + 3 * DAY

    async def found() -> list[str]:
        await recall.recall(life.tenant_id, "ada", "the guitar in the garden", now=now)
        await recall.loaded()
        result = await recall.recall(life.tenant_id, "ada", "the guitar in the garden", now=now)
        return [hit.id for hit in result.hits if hit.memory_type == "forgotten_shape"]

    assert await found() == [shape.shape_id]
    waking = await hydrate(life.graph, life.embedder, life.tenant_id, "ada", now=now, seed=1)
    assert [piece.content for piece in waking.pieces if piece.layer == "shapes"] == [shape.text]
    await unarchive_memory(life.graph, life.caller, lost[0], now=now)
    assert await found() == []
    waking = await hydrate(life.graph, life.embedder, life.tenant_id, "ada", now=now, seed=1)
    assert [piece for piece in waking.pieces if piece.layer == "shapes"] == []
    await recall.close()
