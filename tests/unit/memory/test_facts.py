from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.facts import Fact, fact_key, find_held_fact, timeline

START = datetime(2026, 5, 1, tzinfo=UTC)


def fact(name: str, day: int, value: str, attribute: str = "home", polarity: bool = True) -> Fact:
    return Fact(name, attribute, value, polarity, START + timedelta(days=day))


def test_a_new_value_closes_the_old_one_and_contradicts_it() -> None:
    lisbon, porto = fact("a", 0, "Lisbon"), fact("b", 9, "Porto")

    course = timeline([porto, lisbon])

    assert course.ends == {"a": porto.since, "b": None}
    assert course.contradicts == [("b", "a")]
    assert course.extends == []


def test_a_value_that_returns_is_held_anew() -> None:
    first, other, again = fact("a", 0, "Lisbon"), fact("b", 5, "Porto"), fact("c", 9, "lisbon")

    course = timeline([first, other, again])

    assert course.ends == {"a": other.since, "b": again.since, "c": None}
    assert course.contradicts == [("b", "a"), ("c", "b")]


def test_a_denial_closes_what_it_denies_and_nothing_else() -> None:
    tea, green = fact("a", 0, "tea", "likes"), fact("b", 1, "green tea", "likes")
    no_tea = fact("c", 5, "Tea", "dislikes")

    course = timeline([tea, green, no_tea])

    assert course.ends == {"a": no_tea.since, "b": None, "c": None}
    assert course.contradicts == [("c", "a")]
    assert course.extends == [("b", "a")]  # green tea is more of the same


def test_values_that_have_nothing_in_common_do_not_extend_each_other() -> None:
    course = timeline([fact("a", 0, "the tea", "likes"), fact("b", 1, "the rain", "likes")])

    assert course.extends == []


def test_no_longer_living_somewhere_ends_it_and_says_nothing_of_elsewhere() -> None:
    lisbon, gone = fact("a", 0, "Lisbon"), fact("b", 5, "Lisbon", polarity=False)
    porto = fact("c", 9, "Porto")

    course = timeline([lisbon, gone, porto])

    assert course.ends == {"a": gone.since, "b": None, "c": None}
    assert course.contradicts == [("b", "a")]


def test_opposites_are_filed_together_and_other_respects_apart() -> None:
    def about(attribute: str, subject: str = "Sam") -> str | None:
        return fact_key({"subject": subject, "attribute": attribute, "value": "tea"})

    assert about("likes") == about("dislikes") == about("likes", "SAM")
    assert len({about("likes"), about("habit"), about("likes", "Ada")}) == 3
    assert fact_key({"subject": "Sam", "attribute": "home"}) is None
    assert fact_key({"subject": "Sam", "attribute": "home", "value": "?!"}) is None


def test_saying_it_again_is_saying_the_same_unless_it_was_denied_in_between() -> None:
    lisbon, porto = fact("a", 0, "Lisbon"), fact("b", 5, "Porto")

    assert find_held_fact(fact("x", 2, "lisbon!"), [lisbon, porto]) == lisbon
    assert find_held_fact(fact("x", 9, "Lisbon"), [lisbon, porto]) is None
    assert find_held_fact(fact("x", 9, "Porto"), [lisbon, porto]) == porto
    assert find_held_fact(fact("x", 9, "Porto"), []) is None


def test_a_plan_is_called_off_in_fewer_words_than_it_was_made_in() -> None:
    planned = fact("a", 0, "go to Seville with Inês next Saturday", "plan")
    called_off = fact("b", 3, "go to Seville", "plan", polarity=False)

    course = timeline([planned, called_off])

    assert course.ends["a"] == called_off.since
    assert course.contradicts == [("b", "a")]


@pytest.mark.parametrize("other", ["go to Sevilla", "visit Mum", "go to Seville with Rui"])
def test_another_plan_goes_on(other: str) -> None:
    planned = fact("a", 0, other, "plan")
    called_off = fact("b", 3, "go to Seville with Inês", "plan", polarity=False)

    assert timeline([planned, called_off]).ends["a"] is None


def test_what_is_no_plan_is_denied_in_its_own_words_only() -> None:
    liked, disliked = fact("a", 0, "tea with milk", "likes"), fact("b", 3, "tea", "dislikes")

    assert timeline([liked, disliked]).ends["a"] is None


def test_who_is_dating_is_single_no_more() -> None:
    single = fact("a", 0, "single", "relationship")
    dating = fact("b", 3, "dating Rui", "relationship")

    assert timeline([single, dating]).ends["a"] == dating.since


some_facts = st.lists(
    st.builds(
        fact,
        st.uuids().map(str),
        st.integers(0, 20),
        st.sampled_from(["Lisbon", "Porto", "Faro"]),
        st.sampled_from(["home", "likes", "dislikes"]),
        st.booleans(),
    ),
    max_size=8,
    unique_by=lambda item: item.id,
)


@given(some_facts, st.randoms())
def test_the_course_of_facts_does_not_depend_on_when_each_became_known(facts, random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(facts)
    random.shuffle(shuffled)

    assert timeline(facts) == timeline(shuffled)


@given(some_facts)
def test_a_fact_ends_no_earlier_than_it_began_and_by_one_that_denies_it(facts: list[Fact]) -> None:
    course, known = timeline(facts), {fact.id: fact for fact in facts}

    for newer, older in course.contradicts:
        assert known[newer].denies(known[older])
        assert course.ends[older] == known[newer].since >= known[older].since
    closed = {older for _, older in course.contradicts}
    assert closed == {fact_id for fact_id, end in course.ends.items() if end}


def of_one_name(*attributes: str) -> st.SearchStrategy[list[Fact]]:
    one = st.builds(
        fact,
        st.uuids().map(str),
        st.integers(0, 20),
        st.sampled_from(["Lisbon", "Porto", "Porto in May", "Faro"]),
        st.sampled_from(attributes),
        st.booleans(),
    )
    return st.lists(one, max_size=8, unique_by=lambda item: item.id)


@given(of_one_name("home") | of_one_name("likes", "dislikes") | of_one_name("plan"))
def test_a_fact_is_closed_by_the_first_later_one_that_denies_it(facts: list[Fact]) -> None:
    ordered = sorted(facts, key=lambda item: (item.since, item.id))

    ends = {
        item.id: next((later.since for later in ordered[place + 1 :] if later.denies(item)), None)
        for place, item in enumerate(ordered)
    }

    assert timeline(facts).ends == ends
