from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from engine.facts import Fact, fact_of, held_when_said, timeline

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
    tea, coffee = fact("a", 0, "tea", "likes"), fact("b", 1, "coffee", "likes")
    no_tea = fact("c", 5, "Tea", "dislikes")

    course = timeline([tea, coffee, no_tea])

    assert course.ends == {"a": no_tea.since, "b": None, "c": None}
    assert course.contradicts == [("c", "a")]
    assert course.extends == [("b", "a")]  # liking coffee too stands beside liking tea


def test_no_longer_living_somewhere_ends_it_and_says_nothing_of_elsewhere() -> None:
    lisbon, gone = fact("a", 0, "Lisbon"), fact("b", 5, "Lisbon", polarity=False)
    porto = fact("c", 9, "Porto")

    course = timeline([lisbon, gone, porto])

    assert course.ends == {"a": gone.since, "b": None, "c": None}
    assert course.contradicts == [("b", "a")]


def test_opposites_are_filed_together_and_other_respects_apart() -> None:
    def about(attribute: str, subject: str = "Sam") -> str | None:
        return fact_of({"subject": subject, "attribute": attribute, "value": "tea"})

    assert about("likes") == about("dislikes") == about("likes", "SAM")
    assert len({about("likes"), about("habit"), about("likes", "Ada")}) == 3
    assert fact_of({"subject": "Sam", "attribute": "home"}) is None
    assert fact_of({"subject": "Sam", "attribute": "home", "value": "?!"}) is None


def test_saying_it_again_is_saying_the_same_unless_it_was_denied_in_between() -> None:
    lisbon, porto = fact("a", 0, "Lisbon"), fact("b", 5, "Porto")

    assert held_when_said(fact("x", 2, "lisbon!"), [lisbon, porto]) == lisbon
    assert held_when_said(fact("x", 9, "Lisbon"), [lisbon, porto]) is None
    assert held_when_said(fact("x", 9, "Porto"), [lisbon, porto]) == porto
    assert held_when_said(fact("x", 9, "Porto"), []) is None


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
    unique_by=lambda it: it.id,
)


@given(some_facts, st.randoms())
def test_the_course_of_facts_does_not_depend_on_when_each_became_known(facts, random) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(facts)
    random.shuffle(shuffled)

    assert timeline(facts) == timeline(shuffled)


@given(some_facts)
def test_a_fact_ends_no_earlier_than_it_began_and_by_one_that_denies_it(facts: list[Fact]) -> None:
    course, known = timeline(facts), {it.id: it for it in facts}

    for newer, older in course.contradicts:
        assert known[newer].denies(known[older])
        assert course.ends[older] == known[newer].since >= known[older].since
    closed = {older for _, older in course.contradicts}
    assert closed == {it for it, end in course.ends.items() if end}
