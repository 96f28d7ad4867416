"""The reference model itself, held to SPEC by plain values. No database."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.model.reference import (
    BOTH,
    CONTEXT,
    MANAGER,
    PLACEHOLDER,
    TOAST,
    UNFLAGGED,
    Group,
    Message,
    Model,
    Refused,
)

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
HOUR, DAY, SECOND = timedelta(hours=1), timedelta(days=1), timedelta(seconds=1)


@pytest.fixture
def model() -> Model:
    return Model(
        instances={"studio": {"sam": "member", "kim": "member", "ines": "admin"}, "attic": {}},
        conversations={"monday": "studio", "loft": "attic"},
    )


def say(model: Model, *ids: str, ago: timedelta = HOUR, apart: timedelta = SECOND) -> None:
    for place, id_ in enumerate(ids):
        at = NOW - ago + place * apart
        model.say(Message(id_, "monday", "ada", "user", f"said {id_}", at))


def forget_range(model: Model, first: str, last: str, now: datetime = NOW, **other: str) -> str:
    range_id = other.get("range_id", "range")
    selected = model.selection(first, last)
    model.check_range(selected, "sam", confirmed=True)
    model.forget_range(selected, other.get("by", "sam"), now, range_id=range_id)
    return range_id


def propose(model: Model, id_: str, *sources: str, text: str = "", at: datetime = NOW) -> None:
    model.propose(id_, "ada", "episodic", text or id_, {}, list(sources), at)


def propose_home(model: Model, id_: str, city: str, source: str, at: datetime = NOW) -> None:
    content = {"subject": "Sam", "attribute": "home", "value": city}
    model.propose(id_, "ada", "semantic", f"Sam lives in {city}", content, [source], at)


def flagged(model: Model) -> list[str]:
    return [id_ for id_ in model.messages if model.standing_flag(id_)]


def closed_at(model: Model, memory_id: str) -> datetime | None:
    return model.valid_to(model.memories[memory_id])


def test_messages_of_one_moment_stand_in_the_order_of_their_arrival(model: Model) -> None:
    say(model, "d", "a", "c", "b", apart=timedelta())
    say(model, "early", ago=2 * HOUR)

    assert [message.id for message in model.transcript("monday")] == ["early", "d", "a", "c", "b"]
    assert [message.id for message in model.selection("a", "c")] == ["a", "c"]


def test_a_single_flag_has_its_scope_by_age_and_the_first_is_kept(model: Model) -> None:
    say(model, "young")
    say(model, "old", ago=DAY + HOUR)

    assert model.forget("young", "sam", NOW) == ["young"]
    assert model.forget("old", "sam", NOW) == ["old"]
    first = model.record("young")
    assert model.forget("young", "kim", NOW + 2 * DAY) == []

    assert (first["scope"], model.record("old")["scope"]) == (BOTH, CONTEXT)
    assert model.record("young") == first


@pytest.mark.parametrize(
    ("ages", "scopes"),
    [
        ([2, 1], [BOTH, BOTH]),
        ([50, 49], [BOTH, BOTH]),  # wholly old: fuller scope whatever its age
        ([50, 2], [CONTEXT, BOTH]),
    ],
)
def test_the_scope_of_a_range(model: Model, ages: list[int], scopes: list[str]) -> None:
    for place, age in enumerate(ages):
        say(model, f"m{place}", ago=age * HOUR)

    forget_range(model, "m0", "m1")

    assert [model.record(f"m{place}")["scope"] for place in range(2)] == scopes


def test_a_range_is_mixed_also_by_members_that_were_flagged_before(model: Model) -> None:
    say(model, "old", ago=2 * DAY)
    say(model, "young")
    model.forget("young", "sam", NOW)

    forget_range(model, "old", "young")

    assert model.record("old")["scope"] == CONTEXT


def test_a_range_of_three_needs_a_confirmation(model: Model) -> None:
    say(model, "a", "b", "c")

    model.check_range(model.selection("a", "b"), "sam", confirmed=False)
    with pytest.raises(Refused, match="Mark 3 messages as not worth remembering"):
        model.check_range(model.selection("a", "c"), "sam", confirmed=False)


def test_undoing_a_range_takes_back_what_it_set_and_no_other(model: Model) -> None:
    say(model, "a", "b", "c")
    model.forget("b", "sam", NOW - HOUR)
    range_id = forget_range(model, "a", "c")

    assert model.undo_range(range_id, TOAST, NOW + 6 * SECOND) == ["a", "c"]
    assert flagged(model) == ["b"]


def test_undo_in_the_chat_is_refused_after_seven_seconds(model: Model) -> None:
    say(model, "a")
    model.forget("a", "sam", NOW)

    with pytest.raises(Refused):
        model.undo("a", TOAST, NOW + 8 * SECOND)
    assert model.undo("a", MANAGER, NOW + DAY) == ["a"]
    record = model.record("a")
    assert (record["is_flagged"], record["reversed_at"]) == (False, NOW + DAY)
    assert (record["flagged_at"], record["reversal_source"]) == (NOW, MANAGER)


def test_a_badge_is_for_who_flagged_and_for_admins(model: Model) -> None:
    say(model, "a")
    model.forget("a", "sam", NOW)

    assert model.record("a", "kim") == UNFLAGGED
    assert model.can_forget("a", "kim")
    assert all(model.record("a", viewer)["is_flagged"] for viewer in ("sam", "ines", None))


def test_who_is_not_a_member_finds_nothing(model: Model) -> None:
    say(model, "a")

    with pytest.raises(Refused) as refused:
        model.forget("a", "otto", NOW)
    assert refused.value.status == 404
    assert flagged(model) == []


def test_a_weight_follows_from_the_acts_that_stand(model: Model) -> None:
    say(model, "a", "b", "c")
    propose(model, "memory", "a", "b")
    model.night("ada", NOW + DAY)
    memory = model.memories["memory"]

    range_id = forget_range(model, "a", "b")
    assert model.weight_modifier(memory) == pytest.approx(0.2)  # one act, though of two messages
    model.undo("a", MANAGER, NOW)
    assert model.weight_modifier(memory) == pytest.approx(0.2)
    model.forget("a", "kim", NOW)
    model.minimize("memory", 0.5)
    assert model.weight_modifier(memory) == pytest.approx(0.02)
    model.undo_range(range_id, MANAGER, NOW)
    assert model.weight_modifier(memory) == pytest.approx(0.1)
    model.restore_memory("memory")
    model.undo("a", MANAGER, NOW)
    assert model.weight_modifier(memory) == 1.0


def test_what_a_night_passed_over_waits_to_be_restored(model: Model) -> None:
    say(model, "a", "b")
    propose(model, "due", "a", "b")
    propose(model, "young", "a", at=NOW + HOUR)
    model.forget("a", "sam", NOW)
    model.night("ada", NOW + DAY)
    states = [model.candidate_state(model.candidates[id_]) for id_ in ("due", "young")]
    assert states == ["suppressed", "suppressed"]

    model.undo("a", MANAGER, NOW + DAY)

    states = [model.candidate_state(model.candidates[id_]) for id_ in ("due", "young")]
    assert states == ["passed_over", "pending"]
    model.restore_candidate("due")
    model.night("ada", NOW + 2 * DAY)
    assert set(model.memories) == {"due", "young"}


def test_a_candidate_is_open_for_a_day_and_while_it_waits(model: Model) -> None:
    say(model, "a")
    propose(model, "one", "a")
    propose(model, "two", "a")

    model.edit("one", "other", {}, NOW + 23 * HOUR)
    model.remove("two", NOW + 23 * HOUR)
    with pytest.raises(Refused):
        model.edit("one", "late", {}, NOW + DAY)
    with pytest.raises(Refused):
        model.remove("two", NOW)
    model.night("ada", NOW + DAY)
    assert model.memories["one"].candidate.text == "other"
    with pytest.raises(Refused):
        model.remove("one", NOW)


def test_only_what_is_a_day_old_is_consolidated(model: Model) -> None:
    say(model, "a")
    propose(model, "one", "a")

    model.night("ada", NOW + DAY - SECOND)
    assert not model.memories
    model.night("ada", NOW + DAY)
    assert set(model.memories) == {"one"}


@pytest.mark.parametrize("forgotten", ["flagged", "archived", "neither"])
def test_what_is_said_again(model: Model, forgotten: str) -> None:
    say(model, "a", "b")
    propose(model, "first", "a", text="same")
    model.night("ada", NOW + DAY)
    if forgotten == "flagged":
        model.forget("a", "sam", NOW)
    model.set_archived("first", forgotten == "archived")
    propose(model, "again", "b", text="same", at=NOW + DAY)
    model.night("ada", NOW + 2 * DAY)

    anew = forgotten != "neither"
    assert set(model.memories) == ({"first", "again"} if anew else {"first"})
    if not anew:
        assert model.memories["first"].source_message_ids == {"a", "b"}
        assert model.candidate_state(model.candidates["again"]) == "merged"


def test_a_fact_is_closed_by_the_next_one_that_stands(model: Model) -> None:
    say(model, "a", "b", "c")
    for id_, city, source in (("1", "Lisbon", "a"), ("2", "Porto", "b"), ("3", "Faro", "c")):
        propose_home(model, id_, city, source)
    model.night("ada", NOW + DAY)
    second, third = model.messages["b"].timestamp, model.messages["c"].timestamp

    assert [closed_at(model, id_) for id_ in "123"] == [second, third, None]
    model.forget("b", "sam", NOW)
    assert closed_at(model, "1") == third
    model.forget("c", "sam", NOW)
    assert closed_at(model, "1") is None
    model.undo("b", MANAGER, NOW)
    assert [closed_at(model, id_) for id_ in "12"] == [second, None]


@pytest.mark.parametrize("nights", [1, 3])
def test_there_and_back(model: Model, nights: int) -> None:
    say(model, "a", "b", "c")
    for place, (source, city) in enumerate(zip("abc", ("Lisbon", "Porto", "Lisbon"), strict=True)):
        propose_home(model, source, city, source, NOW + place * SECOND)
        if nights == 3:
            model.night("ada", NOW + DAY + place * SECOND)
    model.night("ada", NOW + 2 * DAY)

    assert set(model.memories) == {"a", "b", "c"}
    assert [closed_at(model, id_) is None for id_ in "abc"] == [False, False, True]


def test_a_fact_said_twice_in_a_row_is_one_memory(model: Model) -> None:
    say(model, "a", "b")
    propose_home(model, "1", "Lisbon", "a")
    propose_home(model, "2", "Lisbon", "b")
    groups: list[Group] = []

    def last(group: Group) -> str:
        groups.append(group)
        return group.survivors[-1]

    model.night("ada", NOW + DAY, last)

    assert set(model.memories) == {"2"}
    assert [group.candidate_ids for group in groups] == [["1", "2"]]


def test_a_fact_told_late_does_not_join_two_that_it_does_not_lie_between(model: Model) -> None:
    say(model, "a", "b", "c", "d")
    propose_home(model, "1", "Lisbon", "a")
    propose_home(model, "3", "Porto", "c")
    model.night("ada", NOW + DAY)
    propose_home(model, "2", "Lisbon", "b", NOW + HOUR)
    propose_home(model, "4", "Lisbon", "d", NOW + HOUR)
    model.night("ada", NOW + 2 * DAY)

    third, fourth = model.messages["c"].timestamp, model.messages["d"].timestamp
    assert [closed_at(model, id_) for id_ in "1234"] == [third, third, fourth, None]


def test_a_placeholder_stands_for_a_run_that_is_answered(model: Model) -> None:
    for place, role in enumerate(["user", "persona", "user", "user", "persona", "user"]):
        at = NOW - HOUR + place * SECOND
        model.say(Message(f"m{place}", "monday", "ada", role, "…", at))

    model.forget("m2", "sam", NOW)  # followed by the same role
    assert PLACEHOLDER not in model.working_memory("monday")
    model.forget("m3", "sam", NOW)  # followed by the persona's answer
    assert model.working_memory("monday") == ["m0", "m1", PLACEHOLDER, "m4", "m5"]
    model.forget("m4", "sam", NOW)
    model.forget("m5", "sam", NOW)  # followed by nothing
    assert model.working_memory("monday") == ["m0", "m1"]


def test_a_burst_has_one_answer(model: Model) -> None:
    say(model, "a", "b", "c")
    model.forget("a", "sam", NOW)
    first = model.expected_answer(["a"], "monday", "sam", NOW)
    assert first is not None
    assert first.new
    assert first.shared == []
    model.acknowledged("ack", "ada", ["a"], "sam", NOW)

    soon = model.expected_answer(["b"], "monday", "sam", NOW + 20 * SECOND)
    later = model.expected_answer(["b"], "monday", "sam", NOW + 31 * SECOND)
    assert soon is not None
    assert later is not None
    assert not soon.new
    assert soon.known("ack")
    assert later.new
    assert model.expected_answer([], "monday", "sam", NOW) is None
