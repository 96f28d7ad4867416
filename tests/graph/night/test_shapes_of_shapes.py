"""Faded shapes become one shape, and that ends: by depth, by pins, by uses, by how few they are."""

from datetime import datetime, timedelta

import pytest

from engine.memory.memories import change_memory
from engine.memory.shapes import Shape
from engine.night.shapes import MAX_DEPTH, MIN_SHAPES
from tests.graph.night.test_shapes import a_life, forget, shapes
from tests.lives import FIRST_NIGHT, Life

DAY = timedelta(days=1)


async def archived_shapes(life: Life, count: int, *, depth: int, prefix: str) -> list[str]:
    """Shapes that have faded, each of a memory or a shape of its own that is lost as well."""
    ids = [f"{prefix}{place}" for place in range(count)]
    await life.ask(
        """
        MATCH (p:Persona {tenant_id: $t, id: 'ada'})
        UNWIND $ids AS id
        CREATE (p)-[:REMEMBERS]->(s:Memory:ForgottenShape)
        SET s += {tenant_id: $t, persona_id: 'ada', id: id, memory_type: 'forgotten_shape',
          state: 'archived', flagged: false, minimized: false, pinned: false, importance: 1,
          idle_importance: 1, salience: 0.5, salience_at: $at, idle_since: $at, access_count: 0,
          uses_today: 0, reinforcements: 0, weight_modifier: 1.0, said_at: $at, formed_at: $at,
          title: 'Forgotten Shape', text: 'You once knew something.', shape_depth: $depth,
          shape_memories: 2, drawn_by: 'night', embedding: $vector,
          content: '{"kind": "shape", "themes": ["garden"], "memories": 2, "depth": 1, "first": '
            + '"2026-05-01T12:00:00+00:00", "last": "2026-05-02T12:00:00+00:00"}'}
        CREATE (s)-[:FELT_AS]->(:ShapeExperience {tenant_id: $t, id: id, persona_id: 'ada',
          connected_themes: 'garden', felt_absence: 'Gone.', emotional_residue: 0.2,
          temporal_marker: 'in May 2026', sense_of_loss: 'it mattered', decayed_at: $at})""",
        ids=ids,
        depth=depth,
        at=FIRST_NIGHT,
        vector=[1.0, *[0.0] * 383],
    )
    return ids


async def drawn_by_night(life: Life, now: datetime) -> list[Shape]:
    before = {shape.shape_id for shape in await shapes(life)}
    await life.night(now)
    return [shape for shape in await shapes(life) if shape.shape_id not in before]


@pytest.mark.spec("SHAPE-07")
@pytest.mark.parametrize("depth", [1, 2, 3])
async def test_shapes_of_the_greatest_depth_stay_as_they_are(life: Life, depth: int) -> None:
    await a_life(life)
    ids = await archived_shapes(life, MIN_SHAPES, depth=depth, prefix="old")

    drawn = await drawn_by_night(life, FIRST_NIGHT + 2 * DAY)

    if depth == MAX_DEPTH:
        assert drawn == []
        return
    (shape,) = drawn
    assert (shape.depth, shape.sources, shape.relearnable) == (depth + 1, len(ids), 2 * len(ids))
    assert await drawn_by_night(life, FIRST_NIGHT + 3 * DAY) == []


@pytest.mark.spec("SHAPE-07")
async def test_few_shapes_and_shapes_of_different_depths_make_none(life: Life) -> None:
    await a_life(life)
    await archived_shapes(life, MIN_SHAPES - 1, depth=1, prefix="few")
    await archived_shapes(life, MIN_SHAPES - 1, depth=2, prefix="deep")

    assert await drawn_by_night(life, FIRST_NIGHT + 2 * DAY) == []
    await archived_shapes(life, 1, depth=1, prefix="third")
    (shape,) = await drawn_by_night(life, FIRST_NIGHT + 3 * DAY)
    assert (shape.depth, shape.sources) == (2, MIN_SHAPES)


@pytest.mark.spec("SHAPE-07")
async def test_a_night_draws_at_most_one_shape_of_shapes(life: Life) -> None:
    """However much has faded, it goes up by one level a night, and ends."""
    await a_life(life)
    for depth in (1, 2):
        await archived_shapes(life, 2 * MIN_SHAPES, depth=depth, prefix=f"at{depth}-")

    counts = [len(await drawn_by_night(life, FIRST_NIGHT + day * DAY)) for day in range(2, 7)]

    assert counts == [1, 1, 0, 0, 0]


@pytest.mark.spec("SHAPE-07")
async def test_a_pinned_shape_does_not_fade_and_a_recalled_one_is_not_archived(life: Life) -> None:
    lost, _ = await a_life(life)
    now = FIRST_NIGHT + DAY
    for memory_id in lost[:3]:
        await forget(life, memory_id, at=now)
        now += DAY
        await life.night(now)
    pinned, recalled, left = [shape.shape_id for shape in await shapes(life)]
    await change_memory(life.graph, life.caller, pinned, changes={"pinned": True}, now=now)
    await life.use(recalled, at=now)

    for days in (40, 40, 40, 40, 40):
        now += timedelta(days=days)
        await life.night(now)

    found = {shape.shape_id: shape for shape in await shapes(life)}
    assert (found[pinned].state, found[pinned].importance) == ("active", 3)
    assert (found[recalled].state, found[recalled].importance) == ("active", 1)
    assert found[left].state == "archived"
    # The other living memories have faded too, into shapes of their own; none is of shapes.
    assert {shape.depth for shape in found.values()} == {1}
