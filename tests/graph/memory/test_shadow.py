"""The shadow of a persona: its shapes, what is between them, and true figures of what is lost."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import PersonaNotFound
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message
from engine.memory.losses import Loss, loss_report
from engine.memory.memories import NewMemory, remember
from engine.memory.relearning import relearn_shape, share_shape
from engine.memory.shadow import Shadow, read_shadow
from engine.memory.shapes import NewShape, create_shape
from engine.models import MemoryType
from engine.night.undo import undo_run
from tests.graph.memory.test_relearning import AFTER, NIGHT, a_shape, a_shape_of_shapes
from tests.graph.memory.test_rumours import a_listener
from tests.graph.night.test_shapes import a_life, forget, shapes
from tests.lives import BORN, RULES, Life

DAY = timedelta(days=1)


async def shadow(life: Life, persona_id: str = "ada", *, limit: int = 100) -> Shadow:
    return await read_shadow(life.graph, life.tenant_id, persona_id, limit=limit)


@pytest.mark.spec("SHAPE-10")
async def test_a_persona_that_has_lost_nothing_has_no_shadow(life: Life) -> None:
    await a_life(life)

    found = await shadow(life)

    assert (found.nodes, found.edges, found.more) == ([], [], False)
    assert (found.report.lost, found.report.of) == (0, 10)
    assert found.report.sentences == ["Nothing is lost."]
    with pytest.raises(PersonaNotFound):
        await shadow(life, "nobody")


@pytest.mark.spec("SHAPE-10")
async def test_shapes_are_joined_by_what_they_became_and_by_themes(life: Life) -> None:
    deep, _ = await a_shape_of_shapes(life)

    found = await shadow(life)

    by_id = {node.shape_id: node for node in found.nodes}
    parts = {(edge.from_id, edge.to_id) for edge in found.edges if edge.type == "SHAPED_INTO"}
    assert by_id.keys() == {shape.shape_id for shape in await shapes(life)}
    assert parts == {(id_, deep) for id_ in by_id if id_ != deep}
    for edge in found.edges:
        if edge.type == "THEMES":
            one, other = (
                set(by_id[id_].connected_themes.split(", ")) for id_ in (edge.from_id, edge.to_id)
            )
            assert set(edge.themes) == one & other
            assert edge.weight == round(len(one & other) / len(one | other), 4)
    assert any(edge.type == "THEMES" for edge in found.edges)
    few = await shadow(life, limit=2)
    assert (len(few.nodes), few.more, few.report) == (2, True, found.report)
    assert {end for edge in few.edges for end in (edge.from_id, edge.to_id)} <= {
        node.shape_id for node in few.nodes
    }


@pytest.mark.spec("SHAPE-10")
async def test_the_report_counts_what_is_lost(life: Life) -> None:
    _, lost, living = await a_shape(life)

    report = (await shadow(life)).report

    assert (report.lost, report.of, report.share) == (6, 10, 0.6)
    assert report.by_type == [Loss("episodic", 6, 10, 0.6)]
    assert [(month.month, month.lost) for month in report.by_month] == [("2026-05", 6)]
    themes = {theme.theme: (theme.shapes, theme.memories) for theme in report.by_theme}
    assert themes == dict.fromkeys(("garden", "guitar", "cake"), (1, 6))
    assert report.sentences[0] == "6 of 10 memories are lost (60%)."
    assert len(lost) + len(living) == 10


@pytest.mark.spec("SHAPE-10")
async def test_a_category_is_named_only_if_the_living_use_it(life: Life) -> None:
    async def keep(name: str, category: str, valence: float | None = None) -> str:
        content: dict[str, Any] = {"category": category}
        if valence is not None:
            content["valence"] = valence
        new = NewMemory(MemoryType.SOMATIC, f"Sam felt {name}.", content, chosen_id=name)
        await remember(life.graph, life.embedder, life.caller, "ada", new, now=BORN)
        return name

    for place in range(3):
        await keep(f"calm{place}", "mood", 0.5)
    lost = [await keep("angry", "mood", -0.5), await keep("secret", "affair with Ottilie", -1)]
    await forget(life, *lost)

    found = await shadow(life)

    assert {(loss.name, loss.lost, loss.of) for loss in found.report.by_category} == {
        ("mood", 1, 4),
        ("other", 1, 1),
    }
    assert {(loss.name, loss.lost, loss.of) for loss in found.report.by_tone} == {
        ("negative", 2, 2),
        ("positive", 0, 3),
    }
    assert "Of what felt negative the largest share is lost: 2 of 2 (100%)." in (
        found.report.sentences
    )
    assert "Ottilie" not in str(found)


@pytest.mark.spec("SHAPE-10")
async def test_what_is_flagged_is_counted_nowhere(life: Life) -> None:
    said = await life.say("The garden was wet.", "My guitar broke again today.")
    await life.night()
    ids = [memory.memory_id for memory in await life.memories()]
    await forget(life, *ids)
    await life.night(NIGHT)
    before = (await shadow(life)).report

    await flag_message(life.graph, Templates(), life.caller, said[0], RULES, now=NIGHT)
    flagged = await shadow(life)

    assert before.lost == before.of > flagged.report.lost == flagged.report.of
    assert flagged.nodes == []
    assert "garden" not in str(flagged)
    await life.night(AFTER)
    again = await shadow(life)
    assert "garden" not in str(again)


@pytest.mark.spec("SHAPE-10")
async def test_the_shadow_follows_relearning_undo_and_what_others_told(life: Life) -> None:
    lost, _ = await a_life(life)
    await forget(life, *lost)
    night = await life.night(NIGHT)
    (shape,) = await shapes(life)
    await a_listener(life)
    rumour = await share_shape(
        life.graph, life.embedder, life.caller, shape.shape_id, "eve", now=AFTER
    )

    eve = await shadow(life, "eve")
    assert [node.shape_id for node in eve.nodes] == [rumour.shape_id]
    assert (eve.report.lost, eve.report.by_theme) == (0, [])
    await undo_run(life.graph, life.tenant_id, night.id, now=AFTER, undone_by="test")
    assert ((await shadow(life)).nodes, (await shadow(life)).report.lost) == ([], 6)
    await life.night(AFTER)
    (again,) = await shapes(life)
    await relearn_shape(life.graph, life.caller, again.shape_id, now=AFTER)
    assert ((await shadow(life)).nodes, (await shadow(life)).report.lost) == ([], 0)


async def test_a_shape_by_hand_has_its_themes_in_the_shadow(life: Life) -> None:
    for place, themes in enumerate(("the sea, salt", "salt,, the sea ,wind")):
        new = NewShape(themes, "It is gone.", chosen_id=f"by-hand-{place}")
        await create_shape(life.graph, life.embedder, life.caller, "ada", new, now=BORN)

    found = await shadow(life)

    (edge,) = found.edges
    assert ({*edge.themes}, edge.weight) == ({"salt", "the sea"}, round(2 / 3, 4))


GROUPS = st.lists(
    st.builds(
        lambda state, kind, category, tone, month, count: {
            "state": state,
            "memory_type": kind,
            "category": category,
            "tone": tone,
            "month": month if state == "archived" else None,
            "memories": count,
        },
        st.sampled_from(["active", "archived"]),
        st.sampled_from(["episodic", "semantic", "somatic"]),
        st.sampled_from([None, "mood", "private thing"]),
        st.sampled_from([None, "positive", "negative", "neutral"]),
        st.sampled_from(["2026-04", "2026-05", "2026-06"]),
        st.integers(1, 50),
    ),
    max_size=12,
)


@pytest.mark.spec("SHAPE-10")
@given(GROUPS)
def test_every_figure_adds_up_and_every_sentence_is_true(groups: list[dict[str, Any]]) -> None:
    report = loss_report(groups, [])

    lost = sum(group["memories"] for group in groups if group["state"] == "archived")
    assert report.lost == lost
    for kinds in (report.by_type, report.by_category):
        assert sum(kind.lost for kind in kinds) == lost
    assert sum(month.lost for month in report.by_month) == lost
    living = sum(
        group["memories"]
        for group in groups
        if group["state"] == "active" and group["category"] == "private thing"
    )
    if living < 3:
        assert "private thing" not in str(report)
    for sentence in report.sentences[1:]:
        check_sentence(sentence, groups)


def check_sentence(sentence: str, groups: list[dict[str, Any]]) -> None:
    """What the sentence says follows from the groups, counted here another way."""

    def share(key: str, name: str) -> tuple[float, int, int]:
        mine = [group for group in groups if group[key] == name]
        lost = sum(group["memories"] for group in mine if group["state"] == "archived")
        of = sum(group["memories"] for group in mine)
        return lost / of, lost, of

    if found := re.match(
        r"Of (?:what felt )?(\w+)(?: memories)? the largest.*: (\d+) of (\d+)", sentence
    ):
        key = "tone" if "felt" in sentence else "memory_type"
        name, said = found[1], (int(found[2]), int(found[3]))
        ratio, lost, of = share(key, name)
        assert said == (lost, of)
        others = {group[key] for group in groups if group[key]} - {name}
        assert all(share(key, other)[0] < ratio for other in others)
        return
    found = re.match(r"More of (\w+ \d+) is lost than of any other month: (\d+)\.", sentence)
    assert found, sentence
    month = datetime.strptime(found[1], "%B %Y").replace(tzinfo=UTC).strftime("%Y-%m")
    counts: dict[str, int] = {}
    for group in groups:
        if group["state"] == "archived":
            counts[group["month"]] = counts.get(group["month"], 0) + group["memories"]
    assert counts.pop(month) == int(found[2])
    assert all(count < int(found[2]) for count in counts.values())
