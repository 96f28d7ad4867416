"""What a night does to candidates, memories and links, number by number."""

from datetime import timedelta
from typing import Any

import pytest

from engine.memory.links import add_link
from engine.memory.memories import change_memory
from engine.memory.models import CandidateState, Link, LinkType, MemoryState
from engine.models import PROPOSED_TYPES, MemoryType
from engine.policy.policy import (
    Layer,
)
from engine.policy.stored import set_persona_policy, set_tenant_policy
from tests.lives import BORN, FIRST_NIGHT, Life

DAY = timedelta(days=1)


async def link(
    life: Life, source: str, target: str, strength: float, kind: LinkType = LinkType.ENABLES
) -> None:
    await add_link(
        life.graph, life.caller, source, target, kind, strength=strength, now=FIRST_NIGHT
    )


async def links(life: Life, *kinds: LinkType) -> list[Link]:
    return [link for link in await life.links() if link.type in (kinds or tuple(LinkType))]


async def state_fact(life: Life, value: str, at: timedelta, **changes: Any) -> str:
    content = {"kind": "fact", "subject": "Sam", "attribute": "home", "value": value, **changes}
    return await life.propose(
        f"Sam: {content['attribute']} {value}",
        at=BORN + at,
        memory_type=MemoryType.SEMANTIC,
        **content,
    )


# ── Integrate ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.spec("CONS-01")
async def test_every_eligible_candidate_becomes_one_memory_with_its_sources(life: Life) -> None:
    said = await life.say("I live in Lisbon.", "I went for a run along the river.")
    drawn = {candidate.candidate_id: candidate for candidate in await life.candidates()}

    await life.night()

    kept = {memory.memory_id: memory for memory in await life.memories()}
    assert kept.keys() == drawn.keys()
    assert await life.candidates() == []
    for memory_id, memory in kept.items():
        assert memory.text == drawn[memory_id].text
        assert memory.source_message_ids == drawn[memory_id].source_message_ids
        assert set(memory.source_message_ids) <= set(said)
        assert (memory.importance, memory.salience, memory.weight_modifier) == (5, 0.5, 1.0)
        assert (memory.access_count, memory.pinned) == (0, False)
        assert memory.formed_at == FIRST_NIGHT
    labels = await life.ask("MATCH (m:Memory {tenant_id: $t}) RETURN labels(m) AS labels")
    assert {frozenset(row["labels"]) for row in labels} == {
        frozenset({"Memory", "Episodic"}),
        frozenset({"Memory", "Semantic"}),
    }


@pytest.mark.spec("CONS-01")
async def test_a_near_duplicate_reinforces_the_memory_that_is_there(life: Life) -> None:
    (first,) = await life.say("I went for a long run along the wide river this morning")
    await life.night()
    (again,) = await life.say(
        "went for a long run along the wide river this morning", at=BORN + 2 * DAY
    )
    before = (await life.memories())[0]

    night = await life.night(FIRST_NIGHT + 2 * DAY)

    (memory,) = await life.memories()
    assert memory.memory_id == before.memory_id
    assert memory.source_message_ids == [first, again]
    assert (memory.reinforcements, before.reinforcements) == (1, 0)
    assert memory.salience > before.salience
    assert night.stages[0].did == {"formed": 0, "merged": 1}
    (merged,) = await life.candidates(CandidateState.MERGED)
    assert merged.source_message_ids == [again]


@pytest.mark.spec("CONS-01")
@pytest.mark.parametrize(("shared", "merged"), [(23, 1), (22, 0)])
async def test_the_threshold_of_a_duplicate_is_a_cosine_of_0_92(
    life: Life, shared: int, merged: int
) -> None:
    # Of 25 different words each, 23 shared is a cosine of 23/25 = 0.92, and 22 is 0.88.
    words = [f"w{place}" for place in range(30)]
    await life.propose(" ".join(words[:25]))
    await life.propose(" ".join(words[:shared] + words[25 : 25 + 25 - shared]))

    night = await life.night()

    assert night.stages[0].did == {"formed": 2 - merged, "merged": merged}


async def test_the_same_words_of_another_person_or_of_another_type_are_another_memory(
    life: Life,
) -> None:
    text = "the long walk along the river was lovely"
    for who in ("Sam", "Mia"):
        await life.propose(text, who=who)
    await life.propose(text, memory_type=MemoryType.SOMATIC, who="Sam")

    night = await life.night()

    assert night.stages[0].did["formed"] == 3


async def test_a_repeat_within_one_night_is_merged_too_however_many_there_are(life: Life) -> None:
    for place in range(30):
        await life.propose("the long walk along the river was lovely", at=BORN + place * DAY / 100)

    night = await life.night()

    assert night.stages[0].did == {"formed": 1, "merged": 29}
    (memory,) = await life.memories()
    assert memory.reinforcements == 29
    assert memory.salience < 0.7  # each further time of one day gives less


# ── The editing window ───────────────────────────────────────────────────────────────────────────


@pytest.mark.spec("CAND-04")
async def test_only_what_had_its_full_day_is_consolidated(life: Life) -> None:
    old = await life.propose("an old story", at=FIRST_NIGHT - DAY)
    young = await life.propose("a young story", at=FIRST_NIGHT - DAY + timedelta(seconds=1))

    night = await life.night()

    assert [memory.memory_id for memory in await life.memories()] == [old]
    assert [candidate.candidate_id for candidate in await life.candidates()] == [young]
    assert night.stages[0].could_not == {"editable": 1}

    await life.night(FIRST_NIGHT + DAY)
    assert {memory.memory_id for memory in await life.memories()} == {old, young}


# ── Link ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.spec("CONS-02")
async def test_what_is_near_in_meaning_is_related_once_from_the_newer_to_the_older(
    life: Life,
) -> None:
    old = await life.propose("pottery class with Ana and wet clay", at=BORN)
    new = await life.propose("pottery class with Ana and blue glaze", at=BORN + DAY / 24)
    await life.propose("the bus came late", at=BORN + DAY / 12)

    await life.night()
    await life.night(FIRST_NIGHT + DAY)

    (related,) = await links(life, LinkType.RELATED)
    assert (related.from_id, related.to_id, related.strength) == (new, old, 0.5)


@pytest.mark.spec("CONS-02")
async def test_episodes_of_a_conversation_precede_each_other_in_whatever_order_they_arrive(
    life: Life,
) -> None:
    await life.say("The third thing is a yellow boat.", at=BORN + timedelta(minutes=20))
    await life.say("The first thing is a red house.", at=BORN)
    await life.night()
    await life.say("In the middle I saw a green tree.", at=BORN + timedelta(minutes=10))
    await life.night(FIRST_NIGHT + DAY)
    texts = {memory.memory_id: memory.text for memory in await life.memories()}

    pairs = {
        (texts[link.from_id][-10:], texts[link.to_id][-10:])
        for link in await links(life, LinkType.PRECEDES)
    }

    assert ("red house.", "reen tree.") in pairs
    assert ("reen tree.", "llow boat.") in pairs


@pytest.mark.spec("CONS-02", "CONS-15")
async def test_a_changed_fact_closes_the_older_one_and_contradicts_it(life: Life) -> None:
    lisbon = await state_fact(life, "Lisbon", timedelta())
    await life.night()
    porto = await state_fact(life, "Porto", 3 * DAY)
    await life.night(FIRST_NIGHT + 3 * DAY)

    (contradiction,) = await links(life, LinkType.CONTRADICTS)
    assert (contradiction.from_id, contradiction.to_id) == (porto, lisbon)
    periods = {
        memory.memory_id: (memory.valid_from, memory.valid_to) for memory in await life.memories()
    }
    assert periods == {lisbon: (BORN, BORN + 3 * DAY), porto: (BORN + 3 * DAY, None)}
    assert await life.texts(held_at=BORN + DAY) == ["Sam: home Lisbon"]
    assert await life.texts(held_at=BORN + 4 * DAY) == ["Sam: home Porto"]


@pytest.mark.spec("CONS-15")
async def test_facts_come_out_the_same_when_the_older_one_becomes_known_later(life: Life) -> None:
    porto = await state_fact(life, "Porto", timedelta())
    await life.night()
    said = await life.say("Long ago it was so, they say.", at=BORN - 9 * DAY)
    lisbon = await life.propose(
        "Sam: home Lisbon",
        at=BORN + DAY,
        memory_type=MemoryType.SEMANTIC,
        sources=said,
        kind="fact",
        subject="Sam",
        attribute="home",
        value="Lisbon",
    )
    await life.night(FIRST_NIGHT + 2 * DAY)

    (contradiction,) = await links(life, LinkType.CONTRADICTS)
    assert (contradiction.from_id, contradiction.to_id) == (porto, lisbon)
    assert (await life.memory(lisbon)).valid_to == BORN
    assert (await life.memory(porto)).valid_to is None


async def test_a_fact_told_again_in_other_words_is_the_same_until_it_changes(life: Life) -> None:
    first = await state_fact(life, "Lisbon", timedelta())
    await state_fact(life, "lisbon!", DAY / 24)
    await state_fact(life, "Porto", DAY / 12)
    back = await state_fact(life, "Lisbon", DAY / 6)

    night = await life.night()

    assert night.stages[0].did == {"formed": 3, "merged": 1}
    assert (await life.memory(first)).valid_to == BORN + DAY / 12
    assert (await life.memory(back)).valid_to is None


@pytest.mark.spec("CONS-02")
async def test_more_of_the_same_beside_the_first_extends_it(life: Life) -> None:
    tea = await state_fact(life, "tea", timedelta(), attribute="likes")
    green = await state_fact(life, "green tea", DAY / 24, attribute="likes")
    await state_fact(life, "the rain", DAY / 12, attribute="likes")

    await life.night()

    (extends,) = await links(life, LinkType.EXTENDS)
    assert (extends.from_id, extends.to_id) == (green, tea)
    assert [memory.valid_to for memory in await life.memories()] == [None, None, None]


# ── Distil ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.spec("CONS-10")
async def test_episodes_that_return_to_one_theme_yield_one_semantic_memory(life: Life) -> None:
    said = []
    for day, story in enumerate(
        (
            "My pottery class with the red clay kiln",
            "In pottery class the clay kiln was hot",
            "Another pottery class beside the clay kiln",
        )
    ):
        said += await life.say(story, at=BORN + day * DAY)
        await life.night(FIRST_NIGHT + day * DAY)

    (theme,) = await life.memories(memory_type=MemoryType.SEMANTIC)
    episodes = {memory.memory_id for memory in await life.memories(memory_type=MemoryType.EPISODIC)}
    assert theme.distilled
    assert theme.text.startswith("Sam keeps coming back to ")
    assert set(theme.content["terms"]) == {"pottery class", "clay kiln"}
    assert {(link.from_id, link.to_id) for link in await links(life, LinkType.EXTENDS)} == {
        (theme.memory_id, episode) for episode in episodes
    }
    assert theme.source_message_ids == said

    said += await life.say("One more pottery class, clay and kiln", at=BORN + 3 * DAY)
    await life.night(FIRST_NIGHT + 3 * DAY)

    (grown,) = await life.memories(memory_type=MemoryType.SEMANTIC)
    assert grown.memory_id == theme.memory_id
    assert grown.text == theme.text
    assert grown.source_message_ids == said
    assert len(await links(life, LinkType.EXTENDS)) == 4


async def test_what_is_said_three_times_on_one_day_is_no_pattern(life: Life) -> None:
    await life.say(
        "My pottery class with the red clay kiln",
        "In pottery class the clay kiln was hot",
        "Another pottery class beside the clay kiln",
    )
    await life.night()

    assert await life.memories(memory_type=MemoryType.SEMANTIC) == []


# ── Strengthen and prune ─────────────────────────────────────────────────────────────────────────


@pytest.mark.spec("CONS-03")
async def test_links_used_in_the_last_day_grow_once_a_night(life: Life) -> None:
    one, two, three = await life.remember("red house", "green tree", "yellow boat")
    await link(life, one, two, 0.5)
    await link(life, one, three, 0.5, LinkType.VALIDATES)
    await link(life, two, three, 0.96)
    used_at = FIRST_NIGHT + timedelta(hours=20)
    await life.use(one, two, at=used_at)  # at once, by a tenth of what is missing: 0.55
    await life.use(two, three, at=used_at)

    night = await life.night(FIRST_NIGHT + DAY)
    again = await life.night(FIRST_NIGHT + DAY)
    idle = await life.night(FIRST_NIGHT + 2 * DAY)

    strengths = {(link.from_id, link.to_id): link.strength for link in await links(life)}
    assert strengths[one, two] == pytest.approx(0.55 + 0.45 * 0.05)
    assert strengths[one, three] == 0.5  # not used
    assert strengths[two, three] == pytest.approx(0.96 + 0.04 * 0.1)  # strong enough already
    done = {stage.stage: stage.did for stage in night.stages}
    assert done["strengthen"] == {"strengthened": 1}
    assert again.state == "done_before"
    assert {stage.stage: stage.did for stage in idle.stages}["strengthen"] == {}


@pytest.mark.spec("CONS-03")
async def test_a_link_used_more_than_a_day_ago_does_not_grow(life: Life) -> None:
    one, two = await life.remember("red house", "green tree")
    await link(life, one, two, 0.5)
    await life.use(one, two, at=FIRST_NIGHT + timedelta(hours=20))

    await life.night(FIRST_NIGHT + 2 * DAY)  # the night between was missed

    assert [link.strength for link in await links(life)] == [pytest.approx(0.55)]


@pytest.mark.spec("CONS-05")
async def test_weak_links_that_nobody_used_for_long_are_deleted_and_no_others(life: Life) -> None:
    ids = await life.remember("red house", "green tree", "yellow boat", "blue gate")
    one, two, three, pinned = ids
    await link(life, one, two, 0.09)  # never used
    await link(life, one, three, 0.1)  # not weak
    await link(life, two, three, 0.02)  # used: 0.118, then weak no more
    await link(
        life, three, two, 0.0, LinkType.VALIDATES
    )  # used, and weak still: exactly 0.1 is not
    await link(life, one, pinned, 0.05)
    await life.use(two, three, at=FIRST_NIGHT)
    await life.ask("MATCH (:Memory {tenant_id: $t})-[l:VALIDATES]->() SET l.strength = 0.05")
    await change_memory(life.graph, life.caller, pinned, changes={"pinned": True}, now=FIRST_NIGHT)

    async def left() -> set[tuple[str, str]]:
        return {(link.from_id, link.to_id) for link in await links(life)}

    first = await life.night(FIRST_NIGHT + DAY)
    assert await left() == {(one, three), (two, three), (three, two), (one, pinned)}
    report = {stage.stage: stage for stage in first.stages}["prune"]
    assert (report.did, report.could_not) == ({"pruned": 1}, {"pinned": 1})

    await life.night(FIRST_NIGHT + 59 * DAY)
    assert (three, two) in await left()
    await life.night(FIRST_NIGHT + 61 * DAY)
    assert await left() == {(one, three), (two, three), (one, pinned)}


@pytest.mark.spec("CONS-05")
async def test_a_link_that_is_turned_down_is_judged_by_its_own_strength(life: Life) -> None:
    one, two, three = await life.remember("red house", "green tree", "yellow boat")
    await link(life, one, two, 0.4)
    await link(life, one, three, 0.05)
    await life.ask("MATCH (:Memory {tenant_id: $t})-[l:ENABLES]->() SET l.weight_modifier = 0.2")

    await life.night(FIRST_NIGHT + DAY)

    assert [(link.to_id, link.strength) for link in await links(life)] == [(two, 0.4)]


# ── Decay and archive ────────────────────────────────────────────────────────────────────────────


async def importances(life: Life, *days: float) -> list[int]:
    """Of the one memory there is besides shapes, after the nights of these days."""
    importances = []
    for day in days:
        now = FIRST_NIGHT + day * DAY
        await life.night(now)
        everything = [memory for state in MemoryState for memory in await life.memories(state, now)]
        (memory,) = [it for it in everything if it.memory_type in PROPOSED_TYPES]
        importances.append(memory.importance)
    return importances


@pytest.mark.spec("CONS-06")
async def test_importance_falls_by_one_for_each_thirty_days_without_an_access(life: Life) -> None:
    await life.remember("red house")

    assert await importances(life, 1, 29, 30, 31, 45, 59, 60, 61, 90) == [5, 5, 4, 4, 4, 4, 3, 3, 2]


@pytest.mark.spec("CONS-06")
async def test_however_often_or_seldom_the_job_runs_it_comes_to_the_same(life: Life) -> None:
    await life.remember("red house")
    for hours in range(0, 40 * 24, 37):
        await life.hour(FIRST_NIGHT + timedelta(hours=hours))

    assert await importances(life, 41, 130) == [4, 1]


@pytest.mark.spec("CONS-06")
async def test_an_access_begins_the_thirty_days_anew_and_a_pin_stops_them(life: Life) -> None:
    used, pinned, plain = await life.remember("red house", "green tree", "yellow boat")
    await change_memory(life.graph, life.caller, pinned, changes={"pinned": True}, now=FIRST_NIGHT)
    await life.night(FIRST_NIGHT + 20 * DAY)
    await life.use(used, at=FIRST_NIGHT + 20 * DAY)

    await life.night(FIRST_NIGHT + 35 * DAY)
    at_35 = {memory.memory_id: memory.importance for memory in await life.memories()}
    await life.night(FIRST_NIGHT + 51 * DAY)
    at_51 = {memory.memory_id: memory.importance for memory in await life.memories()}
    await change_memory(
        life.graph,
        life.caller,
        pinned,
        changes={"pinned": False},
        now=FIRST_NIGHT + 55 * DAY,
    )
    await life.night(FIRST_NIGHT + 56 * DAY)
    at_56 = {memory.memory_id: memory.importance for memory in await life.memories()}

    assert at_35 == {used: 5, pinned: 5, plain: 4}
    assert at_51 == {used: 4, pinned: 5, plain: 4}
    assert at_56[pinned] == 4


@pytest.mark.spec("CONS-07")
async def test_what_nobody_ever_used_is_archived_once_it_is_old_and_unimportant(
    life: Life,
) -> None:
    names = ("red house", "green tree", "yellow boat", "blue gate")
    plain, used, pinned, important = await life.remember(*names)
    now = FIRST_NIGHT
    for memory_id, importance in ((plain, 1), (used, 1), (pinned, 1), (important, 2)):
        await change_memory(
            life.graph,
            life.caller,
            memory_id,
            changes={"pinned": memory_id == pinned, "importance": importance},
            now=now + (80 * DAY if memory_id == important else timedelta()),
        )
    await life.use(used, at=now)

    await life.night(now + 90 * DAY - timedelta(hours=1))
    early = {memory.memory_id for memory in await life.memories()}
    night = await life.night(now + 90 * DAY)

    assert early == {plain, used, pinned, important}
    (archived,) = await life.memories(MemoryState.ARCHIVED, now + 90 * DAY)
    assert archived.memory_id == plain
    assert archived.archived_at == now + 90 * DAY
    stored = await life.ask(
        "MATCH (m:Memory {tenant_id: $t, id: $id}) RETURN m.salience AS salience", id=plain
    )
    assert stored[0]["salience"] == 0.25  # halved
    assert {stage.stage: stage.did for stage in night.stages}["archive"] == {"archived": 1}


@pytest.mark.spec("CONS-06", "CONS-07")
async def test_left_alone_a_memory_fades_step_by_step_into_the_archive(life: Life) -> None:
    (lonely,) = await life.remember("red house")

    assert await importances(life, *range(10, 120, 10)) == [5, 5, 4, 4, 4, 3, 3, 3, 2, 2, 2]
    await life.night(FIRST_NIGHT + 120 * DAY)

    left = await life.memories()
    assert [memory.memory_type for memory in left] == [MemoryType.FORGOTTEN_SHAPE]
    memory = await life.memory(lonely)
    assert (memory.state, memory.importance) == (MemoryState.ARCHIVED, 1)


@pytest.mark.spec("CONS-11")
@pytest.mark.parametrize(
    ("curve", "left"),
    [
        ("linear", [5, 4, 3, 2]),
        ("exponential", [5, 4, 3, 3]),
        ("power", [5, 4, 3, 3]),
        ("none", [5, 5, 5, 5]),
    ],
)
async def test_the_graph_follows_the_chosen_curve_as_the_policy_computes_it(
    life: Life, curve: str, left: list[int]
) -> None:
    layer = Layer(figures={"decay_curve": curve})
    await set_persona_policy(life.graph, life.tenant_id, "ada", layer)
    await life.remember("red house")

    assert await importances(life, 0.5, 30, 60, 90) == left


@pytest.mark.spec("CONS-11")
async def test_a_type_and_a_category_have_figures_of_their_own(life: Life) -> None:
    await set_tenant_policy(
        life.graph,
        life.tenant_id,
        Layer(
            types={MemoryType.SOMATIC: {"decay_days": 10}},
            categories={"plan": {"decay_days": 5, "decay_step": 2}},
        ),
    )
    plain = await life.propose("red house")
    felt = await life.propose("green tree", memory_type=MemoryType.SOMATIC)
    plan = await life.propose("yellow boat", memory_type=MemoryType.SEMANTIC, kind="plan")
    await life.night()

    await life.night(FIRST_NIGHT + 10 * DAY)

    kept = {memory.memory_id: memory.importance for memory in await life.memories()}
    assert kept == {plain: 5, felt: 4, plan: 1}


@pytest.mark.spec("CONS-11")
async def test_a_change_of_policy_reaches_memories_that_are_there_already(life: Life) -> None:
    await life.remember("red house")
    await life.night(FIRST_NIGHT + DAY)
    await set_persona_policy(life.graph, life.tenant_id, "ada", Layer(figures={"decay_days": 2}))

    assert await importances(life, 6, 6.5, 8) == [2, 2, 1]
