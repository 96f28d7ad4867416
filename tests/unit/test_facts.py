"""Facts over time: what closes what."""

from datetime import UTC, datetime, timedelta

import pytest

from engine.facts import Fact, timeline

FIRST = datetime(2026, 5, 7, tzinfo=UTC)
LATER = FIRST + timedelta(days=3)


def fact(value: str, *, attribute: str = "plan", since: datetime = FIRST, so: bool = True) -> Fact:
    return Fact(f"{value}-{since:%d}", attribute, value, so, since)


def test_a_plan_is_called_off_in_fewer_words_than_it_was_made_in() -> None:
    planned = fact("go to Seville with Inês next Saturday")
    called_off = fact("go to Seville", since=LATER, so=False)

    course = timeline([planned, called_off])

    assert course.ends[planned.id] == LATER
    assert course.contradicts == [(called_off.id, planned.id)]


@pytest.mark.parametrize("other", ["go to Sevilla", "visit Mum", "go to Seville with Rui"])
def test_another_plan_goes_on(other: str) -> None:
    planned = fact(other)
    called_off = fact("go to Seville with Inês", since=LATER, so=False)

    assert timeline([planned, called_off]).ends[planned.id] is None


def test_what_is_no_plan_is_denied_in_its_own_words_only() -> None:
    liked = fact("tea with milk", attribute="likes")
    disliked = fact("tea", attribute="dislikes", since=LATER)

    assert timeline([liked, disliked]).ends[liked.id] is None


def test_who_is_dating_is_single_no_more() -> None:
    single = fact("single", attribute="relationship")
    dating = fact("dating Rui", attribute="relationship", since=LATER)

    assert timeline([single, dating]).ends[single.id] == LATER
