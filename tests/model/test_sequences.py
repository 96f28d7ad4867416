"""What SPEC says of single sequences, by the service and the reference model side by side.

`world.check_all()` compares everything a caller can see; the assertions beside it state what SPEC
says in plain values, so that the model itself is held to it.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from engine.store.graph import Graph
from tests.graph.night.test_rollback import Dying
from tests.machines import ROUNDS
from tests.model.conftest import NOON, NewWorld
from tests.model.reference import BOTH, CONTEXT, MANAGER, TOAST, Message
from tests.model.world import World

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
HARBOUR, LANTERN, MAGPIE, GRANITE, ORCHARD = (
    "violet harbour sleeping",
    "quartz lantern flickers",
    "stolen magpie feathers",
    "granite stairs crumbling",
    "windfall orchard cider",
)
TEXTS = (HARBOUR, LANTERN, MAGPIE, GRANITE, ORCHARD)


def to_ada(id_: str, content: str = HARBOUR, *, ago: timedelta = HOUR, **other: str) -> Message:
    role = other.get("role", "user")
    where = other.get("where", "monday")
    return Message(id_, where, "ada", role, content, NOON - ago, other.get("reply_to"))


async def five(world: World, *, ago: timedelta = HOUR) -> list[str]:
    """Five messages a minute apart. Their ids are in no order."""
    ids = ["m5", "m2", "m4", "m1", "m3"]
    messages = [
        to_ada(id_, text, ago=ago - timedelta(minutes=place))
        for place, (id_, text) in enumerate(zip(ids, TEXTS, strict=True))
    ]
    await world.say(*messages)
    return ids


def scopes(world: World, *message_ids: str) -> list[str]:
    return [world.model.record(message_id)["scope"] for message_id in message_ids]


async def test_a_flag_and_its_undo_leave_what_was_there_before(world: World) -> None:
    first, second, *_ = await five(world)
    await world.propose("c1", HARBOUR, first)
    await world.propose("c2", LANTERN, first, second)
    await world.check_all()

    await world.forget("sam", first)
    await world.check_all()
    assert (await world.forget("sam", first) or {})["changed"] == []
    world.wait(seconds=6)
    await world.undo("sam", first, TOAST)
    await world.check_all()
    await world.forget("sam", second)
    world.wait(seconds=8)
    assert await world.undo("sam", second, TOAST) is None  # UNDO-01: too late
    await world.check_all()
    await world.undo("sam", second, MANAGER)
    await world.check_all()


async def test_the_scope_of_a_range_goes_by_all_it_holds(world: World) -> None:
    old = ["o1", "o2", "o3"]
    await world.say(*(to_ada(id_, ago=2 * DAY) for id_ in old[:1]))
    await world.say(*(to_ada(id_, ago=2 * DAY - HOUR) for id_ in old[1:2]))
    await world.say(*(to_ada(id_, ago=2 * DAY - 2 * HOUR) for id_ in old[2:]))
    young, other = "y1", "y2"
    await world.say(to_ada(young), to_ada(other, ago=timedelta(minutes=1)))

    await world.forget("sam", old[0])  # FLAG-03: single and older
    await world.forget("sam", young)  # single and younger
    # Holds older and younger messages; that the younger one is flagged already changes nothing.
    await world.forget_range("sam", old[2], young)

    assert scopes(world, old[0], young, old[2]) == [CONTEXT, BOTH, CONTEXT]
    await world.check_all()


async def test_a_wholly_old_range_has_the_full_scope(world: World) -> None:
    ids = await five(world, ago=3 * DAY)

    await world.forget("sam", ids[2])
    await world.forget_range("sam", ids[1], ids[3])

    assert scopes(world, *ids[1:4]) == [BOTH, CONTEXT, BOTH]
    await world.check_all()


async def test_of_four_messages_of_one_second_a_range_holds_those_between_its_ends(
    world: World,
) -> None:
    await world.say(to_ada("d", HARBOUR), to_ada("a", LANTERN))
    await world.say(to_ada("c", MAGPIE), to_ada("b", GRANITE))
    await world.check_all()

    answer = await world.forget_range("sam", "a", "c")

    assert answer
    assert sorted(answer["changed"]) == ["a", "c"]
    await world.check_all()


async def test_a_late_arrival_inside_a_range_is_not_in_it(world: World) -> None:
    ids = await five(world)
    answer = await world.forget_range("sam", ids[0], ids[2])
    assert answer
    late = to_ada("late", ORCHARD, ago=HOUR - timedelta(seconds=90))
    await world.say(late)
    await world.check_all()

    await world.undo_range("sam", answer["range_id"])

    await world.check_all()


async def test_a_selection_may_be_given_as_message_ids(world: World) -> None:
    ids = await five(world)

    answer = await world.forget_selection("sam", [ids[0], ids[3], ids[2]])

    assert answer
    assert sorted(answer["changed"]) == sorted([ids[0], ids[2], ids[3]])
    await world.check_all()


async def test_a_range_of_three_is_confirmed_first(world: World) -> None:
    ids = await five(world)

    assert await world.forget_range("sam", ids[0], ids[2], confirmed=False) is None
    await world.check_all()
    assert await world.forget_range("sam", ids[0], ids[1], confirmed=False)
    await world.check_all()


async def test_undoing_a_range_takes_back_what_it_set_and_nothing_else(world: World) -> None:
    ids = await five(world)
    await world.propose("c1", HARBOUR, ids[1])
    await world.forget("sam", ids[1])
    world.wait(minutes=10)
    answer = await world.forget_range("sam", ids[0], ids[2])
    assert answer
    assert sorted(answer["changed"]) == sorted([ids[0], ids[2]])
    world.wait(seconds=3)

    undone = await world.undo_range("sam", answer["range_id"], TOAST)

    assert undone
    assert sorted(undone["changed"]) == sorted([ids[0], ids[2]])
    assert world.model.record(ids[1])["is_flagged"]
    await world.check_all()


async def test_undoing_a_range_leaves_what_was_flagged_anew_after_a_partial_undo(
    world: World,
) -> None:
    ids = await five(world)
    answer = await world.forget_range("sam", ids[0], ids[2])
    assert answer
    await world.undo_range("sam", answer["range_id"], message_ids=[ids[1]])
    await world.check_all()
    await world.forget("kim", ids[1])
    await world.check_all()

    await world.undo_range("sam", answer["range_id"])

    assert world.model.record(ids[1])["is_flagged"]
    await world.check_all()


async def test_undoing_the_older_of_two_ranges_leaves_the_younger(world: World) -> None:
    ids = await five(world)
    older = await world.forget_range("sam", ids[0], ids[2])
    younger = await world.forget_range("kim", ids[1], ids[4])
    assert older
    assert younger

    await world.undo_range("sam", older["range_id"])
    await world.check_all()
    await world.undo_range("kim", younger["range_id"], message_ids=[ids[1], ids[3]])
    await world.check_all()


async def test_what_two_acts_hold_down_comes_up_by_one_undo_after_the_other(world: World) -> None:
    ids = await five(world)
    await world.propose("c1", HARBOUR, ids[0], ids[1])
    await world.propose("c2", LANTERN, ids[2])
    world.wait(days=1)
    await world.sleep("ada")
    await world.check_all()

    await world.minimize("c1", 0.5)
    await world.forget("sam", ids[0])
    answer = await world.forget_range("kim", ids[1], ids[2])
    assert answer
    await world.check_all()
    await world.undo("sam", ids[0])
    await world.check_all()
    await world.restore_memory("c1")
    await world.check_all()
    await world.undo_range("kim", answer["range_id"], message_ids=[ids[2]])
    await world.check_all()
    await world.undo("kim", ids[1])
    await world.check_all()
    assert world.model.weight_modifier(world.model.memories["c1"]) == 1.0


async def test_a_candidate_that_a_night_passed_over_waits_to_be_restored(world: World) -> None:
    first, *_ = await five(world)
    await world.propose("c1", HARBOUR, first)
    await world.forget("sam", first)
    world.wait(days=1)
    await world.sleep("ada")
    await world.check_all()

    await world.undo("sam", first)
    await world.check_all()
    await world.forget("sam", first)
    await world.check_all()
    await world.undo("sam", first)
    await world.sleep("ada")
    await world.check_all()
    assert "c1" not in world.model.memories
    await world.restore_candidate("c1")
    await world.check_all()
    await world.sleep("ada")
    await world.check_all()
    assert "c1" in world.model.memories


async def test_a_flag_undone_before_the_candidate_was_due_leaves_it_pending(world: World) -> None:
    first, *_ = await five(world)
    await world.propose("c1", HARBOUR, first)
    await world.forget("sam", first)
    await world.sleep("ada")  # fifteen hours old: not yet due
    await world.undo("sam", first)
    await world.check_all()

    await world.sleep("ada")

    assert "c1" in world.model.memories
    await world.check_all()


async def test_a_candidate_is_edited_and_removed_in_its_window_only(world: World) -> None:
    first, second, third, *_ = await five(world)
    await world.propose("c1", HARBOUR, first)
    await world.propose("c2", LANTERN, second)
    await world.propose("c3", MAGPIE, third)
    await world.edit("c1", GRANITE)
    await world.remove("c2")
    await world.check_all()
    await world.forget("sam", second)
    await world.undo("sam", second)
    await world.check_all()

    world.wait(hours=23)
    await world.edit("c3", ORCHARD)
    world.wait(hours=2)
    await world.edit("c3", LANTERN)  # CAND-03: refused
    await world.remove("c1")
    await world.check_all()
    await world.sleep("ada")
    await world.edit("c1", LANTERN)
    await world.remove("c3")
    await world.check_all()


async def test_what_is_said_again_after_it_was_forgotten_is_remembered_anew(world: World) -> None:
    first, second, *_ = await five(world)
    await world.propose("c1", HARBOUR, first)
    world.wait(days=1)
    await world.sleep("ada")
    await world.forget("sam", first)
    await world.propose("c2", HARBOUR, second)
    world.wait(days=1)
    await world.sleep("ada")

    assert world.model.weight_modifier(world.model.memories["c2"]) == 1.0
    await world.check_all()
    await world.undo("sam", first)
    await world.check_all()


async def test_what_is_said_again_reinforces_what_is_there(world: World) -> None:
    first, second, third, *_ = await five(world)
    await world.propose("c1", HARBOUR, first)
    await world.propose("c2", HARBOUR, second)
    world.wait(days=1)
    await world.sleep("ada")
    await world.check_all()
    await world.propose("c3", HARBOUR, third)
    await world.propose("c4", HARBOUR, third, memory_type="semantic")
    world.wait(days=1)
    await world.sleep("ada")
    await world.check_all()
    assert len(world.model.memories) == 2  # CONS-01: of the same type only

    await world.forget("sam", third)
    await world.check_all()
    await world.undo("sam", third)
    await world.check_all()


async def test_what_is_said_again_after_it_was_archived_is_remembered_anew(world: World) -> None:
    first, second, *_ = await five(world)
    await world.propose("c1", HARBOUR, first)
    world.wait(days=1)
    await world.sleep("ada")
    await world.archive("c1")
    await world.check_all()
    await world.propose("c2", HARBOUR, second)
    world.wait(days=1)
    await world.sleep("ada")

    assert set(world.model.memories) == {"c1", "c2"}
    await world.check_all()


async def test_a_flagged_newer_fact_reopens_the_older_and_undo_closes_it_again(
    world: World,
) -> None:
    first, second, *_ = await five(world)
    await world.propose_fact("lisbon", "Lisbon", first)
    world.wait(days=1)
    await world.sleep("ada")
    await world.propose_fact("porto", "Porto", second)
    world.wait(days=1)
    await world.sleep("ada")
    lisbon = world.model.memories["lisbon"]
    assert world.model.valid_to(lisbon) == world.model.messages[second].timestamp
    await world.check_all()

    await world.forget("sam", second)
    assert world.model.valid_to(lisbon) is None
    await world.check_all()
    await world.undo("sam", second)
    assert world.model.valid_to(lisbon) is not None
    await world.check_all()


async def test_flags_in_any_order_on_a_chain_of_three_facts(world: World) -> None:
    first, second, third, *_ = await five(world)
    for id_, value, source in (
        ("lisbon", "Lisbon", first),
        ("porto", "Porto", second),
        ("faro", "Faro", third),
    ):
        await world.propose_fact(id_, value, source)
    world.wait(days=1)
    await world.sleep("ada")
    await world.check_all()

    await world.forget("sam", second)  # Lisbon now holds until Faro
    await world.check_all()
    await world.forget("sam", third)
    await world.check_all()
    await world.undo("sam", second)
    await world.check_all()
    await world.undo("sam", third)
    await world.check_all()


async def test_an_archived_newer_fact_reopens_the_older(world: World) -> None:
    first, second, *_ = await five(world)
    await world.propose_fact("lisbon", "Lisbon", first)
    await world.propose_fact("porto", "Porto", second)
    world.wait(days=1)
    await world.sleep("ada")

    await world.archive("porto")
    await world.check_all()
    await world.archive("porto", archived=False)
    await world.check_all()


@pytest.mark.parametrize("nights", [1, 3])
async def test_there_and_back(world: World, nights: int) -> None:
    """ "I live in Lisbon", "… Porto", "… Lisbon" again: in one night, or each in its own."""
    sources = await five(world)
    for id_, value, source in zip(
        ("c1", "c2", "c3"), ("Lisbon", "Porto", "Lisbon"), sources, strict=False
    ):
        await world.propose_fact(id_, value, source)
        if nights == 3:
            world.wait(days=1)
            await world.sleep("ada")
    world.wait(days=1)
    await world.sleep("ada")

    held = [m for m in world.model.memories.values() if world.model.valid_to(m) is None]
    assert [memory.candidate.value for memory in held] == ["lisbon"]
    await world.check_all()


async def test_a_fact_told_late_holds_only_for_its_time(world: World) -> None:
    first, second, third, *_ = await five(world)
    await world.propose_fact("faro", "Faro", third)
    await world.propose_fact("lisbon", "Lisbon", first)
    world.wait(days=1)
    await world.sleep("ada")
    await world.check_all()
    await world.propose_fact("porto", "Porto", second)
    world.wait(days=1)
    await world.sleep("ada")

    await world.check_all()


@pytest.mark.parametrize("first", ["Lisbon", "Porto"])
async def test_of_two_facts_of_one_second_one_holds(world: World, first: str) -> None:
    """SPEC does not say which of them is the newer."""
    second = "Porto" if first == "Lisbon" else "Lisbon"
    await world.say(to_ada("z", f"I live in {first}."), to_ada("a", f"I live in {second}."))
    await world.propose_fact(first.lower(), first, "z")
    await world.propose_fact(second.lower(), second, "a")
    world.wait(days=1)
    await world.sleep("ada")

    memories = await world.observed_memories("ada")
    closed = [memory for memory in memories.values() if memory["valid_to"]]
    assert [memory["valid_to"] for memory in closed] == [closed[0]["valid_from"]]
    assert len(memories) == 2


async def test_a_range_over_two_personas_is_one_record(world: World) -> None:
    at = NOON - HOUR
    await world.say(
        Message("r1", "round", "ada", "user", HARBOUR, at),
        Message("r2", "round", "eve", "user", LANTERN, at + timedelta(seconds=1)),
        Message("r3", "round", "ada", "persona", MAGPIE, at + timedelta(seconds=2)),
    )
    await world.propose("c1", HARBOUR, "r1")
    await world.propose("c2", LANTERN, "r2")
    await world.propose("c3", MAGPIE, "r3")

    answer = await world.forget_range("kim", "r1", "r2")

    assert answer
    await world.check_all()
    await world.undo_range("kim", answer["range_id"], message_ids=["r1"])
    await world.check_all()


async def test_who_sees_whose_flags(world: World) -> None:
    ids = await five(world)
    await world.forget("sam", ids[0])
    await world.forget("kim", ids[1])
    await world.check_all()

    await world.forget("kim", ids[0])  # flagged already; whose flag it is is not hers to know
    await world.check_all()
    assert await world.forget("otto", ids[2]) is None  # FLAG-09
    await world.check_all()
    await world.undo(None, ids[0])
    await world.check_all()


async def test_a_placeholder_stands_where_the_next_message_answers(world: World) -> None:
    roles = ["user", "persona", "user", "user", "persona"]
    await world.say(
        *(
            to_ada(f"p{place}", text, ago=HOUR - timedelta(minutes=place), role=role)
            for place, (role, text) in enumerate(zip(roles, TEXTS, strict=True))
        )
    )
    for chosen in (["p0"], ["p2"], ["p2", "p3"], ["p4"], ["p0", "p1", "p2", "p3", "p4"]):
        for message_id in chosen:
            await world.forget("sam", message_id)
        await world.check_context("monday")
        for message_id in chosen:
            await world.undo("sam", message_id)
        world.wait(minutes=2)


async def test_a_long_flagged_stretch_of_one_second_does_not_empty_working_memory(
    world: World,
) -> None:
    ids = [f"m{(place * 7) % 20:02}" for place in range(20)]
    await world.say(*(to_ada(id_, f"{HARBOUR} {id_}") for id_ in ids))
    await world.forget_range("sam", ids[5], ids[19])

    await world.check_last_turns("monday", "ada", 2)
    await world.check_last_turns("monday", "ada", 4)
    await world.check_all()


async def test_a_burst_is_answered_once(world: World) -> None:
    ids = await five(world)

    await world.forget("sam", ids[0])
    world.wait(seconds=5)
    again = await world.forget("sam", ids[1])
    world.wait(minutes=1)
    later = await world.forget("sam", ids[2])

    assert again
    assert later
    assert again["acknowledgment"]["plural"]
    assert not later["acknowledgment"]["plural"]


async def test_nights_come_at_three_where_the_persona_lives(world: World) -> None:
    at = NOON - HOUR
    await world.say(Message("n1", "loft", "eve", "user", HARBOUR, at))
    await world.propose("c1", HARBOUR, "n1")
    await world.say(to_ada("n2", HARBOUR))
    await world.propose("c2", HARBOUR, "n2")
    world.wait(days=1)
    world.clock.time = world.now.replace(hour=6, minute=30)  # 02:30 in New York
    await world.sleep("eve")
    await world.check_all()
    await world.sleep("ada")
    await world.check_all()
    await world.night("ada")
    await world.check_all()


@pytest.mark.parametrize("nights", [0, 2])
async def test_a_statement_made_again_is_news_when_something_else_held_in_between(
    world: World, nights: int
) -> None:
    """The same words, drawn by the service itself, which leaves out exact repeats."""
    for place, city in enumerate(("Lisbon", "Porto", "Lisbon")):
        said = to_ada(f"s{place}", f"I live in {city}.", ago=HOUR - timedelta(minutes=place))
        await world.say(said)
        drawn = await world.draw("monday")
        assert [candidate.value for candidate in drawn if candidate.fact] == [city.casefold()], (
            drawn
        )
        if nights:
            world.wait(days=1)
            await world.sleep("ada")
    world.wait(days=1)
    await world.sleep("ada")

    facts = [memory for memory in world.model.memories.values() if memory.candidate.fact]
    held = [memory.candidate.value for memory in facts if not world.model.valid_to(memory)]
    assert held == ["lisbon"]
    await world.check_all()


async def test_an_exact_repeat_yields_no_candidate_while_nothing_else_was_said(
    world: World,
) -> None:
    await world.say(to_ada("s1", "I live in Lisbon."))
    assert await world.draw("monday")
    await world.say(to_ada("s2", "I live in Lisbon.", ago=HOUR / 2))

    assert await world.draw("monday") == []  # CAND-07
    await world.check_all()


@pytest.mark.parametrize("consolidated", [False, True])
async def test_the_same_words_are_drawn_anew_after_they_were_forgotten(
    world: World, consolidated: bool
) -> None:
    await world.say(to_ada("s1", "I live in Lisbon."))
    assert await world.draw("monday")
    if consolidated:
        world.wait(days=1)
        await world.sleep("ada")
    await world.forget("sam", "s1")
    world.wait(minutes=10)
    await world.say(to_ada("s2", "I live in Lisbon.", ago=HOUR / 2))

    drawn = await world.draw("monday")

    assert [candidate.value for candidate in drawn if candidate.fact] == ["lisbon"]
    world.wait(days=1)
    await world.sleep("ada")
    await world.check_all()
    facts = [memory for memory in world.model.memories.values() if memory.candidate.fact]
    weights = [world.model.weight_modifier(memory) for memory in facts]
    assert sorted(weights)[-1] == 1.0


TWINS = ("ada", "eve")  # who dies, who does not
COMPARED = (
    "text",
    "memory_type",
    "state",
    "importance",
    "weight_modifier",
    "access_count",
    "reinforcements",
    "valid_from",
    "valid_to",
    "distilled",
)
LINKED = ("type", "strength", "weight_modifier", "coactivations")


async def seen(world: World, persona_id: str) -> list[object]:
    """All that can be seen of a persona's memory, by its words: the twins' ids differ."""
    memories = await world.observed_memories(persona_id)
    states: list[object] = []
    for id_, memory in memories.items():
        answer = await world.admin.get(f"/api/memories/{id_}/links")
        links = [
            (memories[link["to_id"]]["text"], *(link[name] for name in LINKED))
            for link in answer.json()
            if link["from_id"] == id_
        ]
        own = [memory[name] for name in COMPARED]
        states.append((own, round(memory["salience"], 6), sorted(links)))
    return sorted(states, key=str)


async def say_to_twins(world: World, ago: timedelta, *texts: str) -> None:
    start = world.now - ago
    for persona_id in TWINS:
        for place, text in enumerate(texts):
            id_ = f"{persona_id}-{len(world.model.messages)}"
            at = start + timedelta(minutes=place)
            await world.say(Message(id_, "round", persona_id, "user", text, at))
            if text in ("Lisbon", "Porto"):
                await world.propose_fact(f"c-{id_}", text, id_)
            else:
                await world.propose(f"c-{id_}", text, id_)


EVERY_DEATH = [
    (die_at, follow)
    for die_at in range(2, 30)
    for follow in (["hour"], ["night"], ["hour", "night"], ["hour", "hour"])
]
SOME_DEATHS = [(3, ["hour"]), (7, ["hour", "hour"]), (12, ["hour", "night"]), (17, ["night"])]


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("die_at", "follow"), SOME_DEATHS if ROUNDS == 1 else EVERY_DEATH)
async def test_a_night_that_died_ends_as_one_that_did_not(
    new_world: NewWorld, tenant_id: str, die_at: int, follow: list[str]
) -> None:
    """CONS-09, whatever comes first after the death: the hour's job, or the night's again."""
    world = await new_world(tenant_id, eve_lives_in="UTC")
    await say_to_twins(world, HOUR, HARBOUR, LANTERN, "Lisbon")
    world.wait(days=1)
    await world.sleep("ada")
    await world.night("eve")
    world.wait(hours=6)
    for persona_id in TWINS:
        kept = [memory_id for memory_id in world.model.memories if f"c-{persona_id}" in memory_id]
        url = f"/api/personas/{persona_id}/coactivate"
        used = await world.admin.post(url, json={"memory_ids": kept})
        assert used.status_code == 200, used.text
    await say_to_twins(world, HOUR, HARBOUR, MAGPIE, "Porto")
    world.wait(days=1)
    for persona_id in TWINS:  # so that links of the last 24 h are there to be strengthened
        kept = [memory_id for memory_id in world.model.memories if f"c-{persona_id}" in memory_id]
        url = f"/api/personas/{persona_id}/coactivate"
        await world.admin.post(url, json={"memory_ids": kept[:2]})
    world.clock.time += world.until_night("ada")

    await world.run_night("eve")
    await world.crash("ada", die_at, after=die_at % 2 == 0)
    for step in follow:
        world.wait(hours=1)
        for persona_id in TWINS:
            await (world.run_hour if step == "hour" else world.run_night)(persona_id)
    await world.sleep("ada")
    await world.night("eve")

    assert await seen(world, "ada") == await seen(world, "eve")
    await world.check_all()


class Interrupted(Dying):
    """A graph that lets something else happen before the nth transaction of a run."""

    def __init__(self, graph: Graph, nth: int, meanwhile: Callable[[], Awaitable[None]]) -> None:
        super().__init__(graph, nth, after=False)
        self.meanwhile = meanwhile

    @asynccontextmanager
    async def counted(self) -> AsyncIterator[None]:
        self.left[0] -= 1
        if self.left[0] == 0:
            await self.meanwhile()
        yield


@pytest.mark.parametrize("nth", [1, 4, 8, 12, 16] if ROUNDS == 1 else range(1, 30))
async def test_a_policy_changed_during_a_night_is_heard_by_the_next(world: World, nth: int) -> None:
    """CONS-11: whenever the change comes, it holds from then on."""
    first, *_ = await five(world)
    await world.propose("c1", HARBOUR, first)
    world.wait(days=1)
    await world.sleep("ada")

    changed = []

    async def change() -> None:
        changed.append(nth)
        answer = await world.admin.put(
            "/api/personas/ada/policy", json={"figures": {"decay_days": 2}}
        )
        assert answer.status_code == 200, answer.text

    world.clock.time += world.until_night("ada")
    await world.run_night("ada", Interrupted(world.graph, nth, change))
    if not changed:
        await change()  # the night had fewer transactions than that
    world.wait(days=3)
    await world.sleep("ada")

    memories = await world.observed_memories("ada")
    assert memories["c1"]["importance"] < 5


async def test_history_and_audit_tell_what_happened_in_its_order(world: World) -> None:
    """Also of one moment: the order is that in which things took effect."""
    first, *_ = await five(world)
    for _ in range(3):
        await world.forget("sam", first)
        await world.undo("sam", first)

    history = (await world.admin.get(f"/api/messages/{first}/history")).json()
    audit = await world.pages(None, "/api/audit")

    expected = ["flagged", "unflagged"] * 3
    actions = [event["action"] for event in history if event["action"] in expected]
    assert actions == expected
    about = [
        event["action"]
        for event in audit
        if event["action"] in expected and first in event["about"]
    ]
    assert about == expected
