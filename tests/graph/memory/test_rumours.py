"""Rumours: another persona hears of a shape, and nothing that leads back to whose it was."""

import asyncio
import re
from datetime import UTC, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.access.models import Persona, Tone
from engine.access.personas import add_persona
from engine.errors import MemoryNotFound, NothingToRelearn, NotShareable, PersonaNotFound
from engine.ids import id_from
from engine.memory.duplicates import duplicate_persona
from engine.memory.relearning import relearn_shape, share_shape
from engine.memory.rumours import rumour_experience, rumour_outline, rumour_text
from engine.memory.shapes import NewShape, Shape, create_shape, list_shapes
from engine.models import MemoryType
from engine.recall.hydration import hydrate
from engine.text.everyday_words import EVERYDAY_WORDS
from tests.graph.memory.test_relearning import AFTER, NIGHT, a_shape
from tests.graph.night.test_shapes import LOST, forget, shapes
from tests.lives import BORN, FIRST_NIGHT, Life

DAY = timedelta(days=1)


async def a_listener(life: Life, persona_id: str = "eve") -> None:
    eve = Persona(persona_id, "Eve", Tone.WARM, "UTC", BORN, BORN)
    await add_persona(life.graph, life.tenant_id, eve)


async def share(life: Life, shape_id: str, persona_id: str = "eve") -> Shape:
    return await share_shape(
        life.graph, life.embedder, life.caller, shape_id, persona_id, now=AFTER
    )


async def heard(life: Life, persona_id: str = "eve") -> list[Shape]:
    return (await list_shapes(life.graph, life.caller, persona_id, limit=100)).items


def all_that_is_said(shape: Shape) -> str:
    said = (shape.text, shape.title, shape.connected_themes, shape.felt_absence)
    return " ".join([*said, shape.temporal_marker, shape.sense_of_loss])


@pytest.mark.spec("SHAPE-11")
async def test_a_rumour_has_the_structure_of_a_shape_and_nothing_of_its_sources(
    life: Life,
) -> None:
    shape_id, lost, _ = await a_shape(life)
    (shape,) = await shapes(life)
    await a_listener(life)

    rumour = await share(life, shape_id)

    assert (rumour.persona_id, rumour.drawn_by, rumour.state) == ("eve", "rumour", "active")
    assert (rumour.sources, rumour.relearnable, rumour.depth) == (0, 0, 1)
    assert rumour.text.startswith("You have heard from others that something about cake")
    assert rumour.temporal_marker == shape.temporal_marker == "in May 2026"
    assert rumour.sense_of_loss == shape.sense_of_loss
    assert rumour.emotional_residue == int(shape.emotional_residue * 10) / 10
    assert set(rumour.connected_themes.split(", ")) <= EVERYDAY_WORDS
    said = set(re.findall(r"\w+", all_that_is_said(rumour).lower()))
    for text in LOST:
        rare = set(re.findall(r"\w{5,}", text.lower())) - EVERYDAY_WORDS
        assert not said & rare
    assert not said & {"ada", "sam", str(len(lost)), shape_id}
    with pytest.raises(NothingToRelearn):
        await relearn_shape(life.graph, life.caller, rumour.shape_id, now=AFTER)


@pytest.mark.spec("SHAPE-11", "SEC-01")
async def test_nothing_in_the_graph_leads_from_a_rumour_back(life: Life) -> None:
    shape_id, _, _ = await a_shape(life)
    await a_listener(life)
    rumour = await share(life, shape_id)

    (row,) = await life.ask(
        """
        MATCH (r:Memory {tenant_id: $t, id: $id})
        RETURN r {.*} AS rumour,
          COLLECT { MATCH (r)--(n) RETURN labels(n)[0] } AS neighbours,
          COLLECT { MATCH (r)-[:FELT_AS]->(e) RETURN e {.*} } AS experience,
          COLLECT { MATCH (r)<-[:ABOUT]-(e) RETURN e {.*} } AS events""",
        id=rumour.shape_id,
    )
    stored = row["rumour"]
    stored.pop("embedding"), stored.pop("packed_vectors")
    told = str([stored, row["experience"], row["events"]])
    (source,) = await life.ask(
        "MATCH (s:Memory {tenant_id: $t, id: $id}) RETURN s {.*} AS s", id=shape_id
    )

    assert sorted(row["neighbours"]) == ["Event", "Persona", "ShapeExperience"]
    for secret in (shape_id, "'ada'", source["s"]["share_key"], "Sam"):
        assert secret not in told
    # Not the id either: those who know personas, days and shapes cannot compute it.
    guesses = {id_from(shape_id, "eve"), id_from("eve", shape_id), id_from("ada", shape_id, "eve")}
    assert rumour.shape_id not in guesses
    # Nor an exact time or residue, which only one shape has.
    content = (
        await life.ask(
            "MATCH (r:Memory {tenant_id: $t, id: $id}) RETURN r.content AS c", id=rumour.shape_id
        )
    )[0]["c"]
    assert "2026-05-01T00:00:00+00:00" in content
    assert rumour.said_at == rumour.said_at.replace(day=1, hour=0, minute=0, second=0)
    assert rumour.emotional_residue * 10 == int(rumour.emotional_residue * 10)


@pytest.mark.spec("SHAPE-11")
async def test_sharing_twice_or_by_two_at_once_gives_one_rumour(life: Life) -> None:
    shape_id, _, _ = await a_shape(life)
    await a_listener(life)

    first, second = await asyncio.gather(share(life, shape_id), share(life, shape_id))
    stored = await life.everything()
    third = await share(life, shape_id)

    assert first == second == third
    assert await heard(life) == [first]
    assert await life.everything() == stored
    told = await life.ask(
        "MATCH (e:Event {tenant_id: $t, action: 'shared'}) RETURN e.after AS after, e.by AS by"
    )
    assert told == [{"after": "eve", "by": "key:test"}]


@pytest.mark.spec("SHAPE-11")
async def test_a_rumour_stands_when_its_shape_is_gone_and_a_withdrawn_shape_is_not_shared(
    life: Life,
) -> None:
    shape_id, _, _ = await a_shape(life)
    await a_listener(life)
    await a_listener(life, "ivy")
    rumour = await share(life, shape_id)
    await relearn_shape(life.graph, life.caller, shape_id, now=AFTER)
    before = await life.everything()

    with pytest.raises(NotShareable):
        await share(life, shape_id, "ivy")
    with pytest.raises(NotShareable):
        await share(life, rumour.shape_id, "eve")
    for shape, persona in ((shape_id, "nobody"), (rumour.shape_id, "nobody")):
        with pytest.raises(PersonaNotFound):
            await share(life, shape, persona)
    with pytest.raises(MemoryNotFound):
        await share(life, "nothing", "ivy")

    assert await life.everything() == before
    assert await heard(life) == [rumour]
    waking = await hydrate(life.graph, life.embedder, life.tenant_id, "eve", now=AFTER, seed=1)
    assert [piece.content for piece in waking.pieces if piece.layer == "shapes"] == [rumour.text]


async def test_a_shape_is_not_shared_with_whom_it_belongs_to(life: Life) -> None:
    shape_id, _, _ = await a_shape(life)
    before = await life.everything()

    with pytest.raises(NotShareable):
        await share(life, shape_id, "ada")

    assert await life.everything() == before


@pytest.mark.spec("SHAPE-11")
async def test_what_somebody_wrote_by_hand_is_not_passed_on(life: Life) -> None:
    await a_listener(life)
    new = NewShape(
        "Ottilie's garden, the 17th of May, chemotherapy",
        "Ottilie is gone.",
        0.37,
        "on the 17th of May",
        "she was everything",
    )
    shape = await create_shape(life.graph, life.embedder, life.caller, "ada", new, now=NIGHT)

    rumour = await share(life, shape.shape_id)

    assert rumour.connected_themes == "garden"
    said = all_that_is_said(rumour).lower()
    assert not [it for it in ("ottilie", "17", "chemo", "everything") if it in said]
    assert rumour.emotional_residue == 0.3


@pytest.mark.spec("SHAPE-11", "SHAPE-04")
async def test_the_vector_of_a_rumour_is_near_no_source(life: Life) -> None:
    """A source that says little else than the theme would be found by the theme's own vector."""
    await a_listener(life)
    lost = [await life.propose("garden", chosen_id="bare")]
    await life.night()
    await forget(life, *lost)
    await life.night(NIGHT)
    (shape,) = await shapes(life)
    assert shape.connected_themes == "garden"

    rumour = await share(life, shape.shape_id)

    rows = await life.ask(
        "MATCH (m:Memory {tenant_id: $t}) WHERE m.id IN $ids RETURN m.embedding AS vector",
        ids=[rumour.shape_id, *lost],
    )
    one, other = (np.asarray(row["vector"]) for row in rows)
    assert float(one @ other) < 0.8
    assert rumour.connected_themes == ""


async def test_rumours_go_on_and_fade_like_shapes(life: Life) -> None:
    shape_id, _, _ = await a_shape(life)
    for persona_id in ("eve", "ivy"):
        await a_listener(life, persona_id)
    first = await share(life, shape_id)

    second = await share(life, first.shape_id, "ivy")

    same = [first.text, first.connected_themes, first.emotional_residue]
    assert [second.text, second.connected_themes, second.emotional_residue] == same
    now = AFTER
    for _ in range(4):
        now += timedelta(days=40)
        await life.night(now, persona_id="eve")
    (faded,) = await heard(life)
    assert (faded.shape_id, faded.state) == (first.shape_id, "archived")


async def test_a_duplicate_does_not_tell_the_rumours_of_its_original(life: Life) -> None:
    shape_id, _, _ = await a_shape(life)
    await a_listener(life)
    await share(life, shape_id)

    await duplicate_persona(life.graph, life.tenant_id, "ada", copy_id="ann", now=AFTER)
    (copy,) = (await list_shapes(life.graph, life.caller, "ann", limit=10)).items
    await share(life, copy.shape_id)

    assert len(await heard(life)) == 2


THEMES = st.lists(
    st.one_of(st.sampled_from(sorted(EVERYDAY_WORDS)), st.text(max_size=20)), max_size=6
)
TIMES = st.datetimes(min_value=BORN.replace(tzinfo=None), timezones=st.just(UTC))


@pytest.mark.spec("SHAPE-11")
@given(themes=THEMES, first=TIMES, last=TIMES, residue=st.floats(0, 1))
def test_a_rumour_says_everyday_words_and_months(
    themes: list[str], first: Any, last: Any, residue: float
) -> None:
    content = {"first": first.isoformat(), "last": last.isoformat()}

    outline = rumour_outline(", ".join(themes), content, residue)

    assert set(outline.themes) <= EVERYDAY_WORDS
    assert len(outline.themes) <= 2
    assert 0 <= outline.residue <= residue
    assert outline.sense_of_loss in rumour_text(outline)
    template = rumour_text(rumour_outline("", content, residue))
    extra = set(re.findall(r"\w+", rumour_text(outline))) - set(re.findall(r"\w+", template))
    assert extra <= EVERYDAY_WORDS | {"about"}
    assert rumour_experience(outline).connected_themes == ", ".join(outline.themes)
    assert outline.memories == 0
    assert MemoryType.FORGOTTEN_SHAPE.value not in rumour_text(outline)
    assert FIRST_NIGHT > BORN
