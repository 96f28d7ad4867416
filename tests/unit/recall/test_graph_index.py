"""What a search in the graph asks for, as values."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from engine.embedding import Lexicon, normalized
from engine.recall.asked import Asked
from engine.recall.graph_index import DAYS_AFTER, MAX_PERIODS, periods_asked
from engine.recall.profiles import PROFILES
from engine.recall.questions import parse_question
from engine.recall.search import Filters, Search

NOW = datetime(2026, 5, 20, tzinfo=UTC)
DAY = timedelta(days=1)
LEXICON = Lexicon.of(["dog"], np.array([normalized([1, 0])]))


def search(asked: str, **filters: Any) -> Search:
    question = parse_question(asked, people=(), now=NOW)
    return Search(
        tenant_id="t",
        persona_id="p",
        asked=Asked.of(question, normalized([1, 0]), LEXICON),
        profile=PROFILES["woven"],
        filters=Filters(**filters),
        at=NOW,
        start=0,
        limit=10,
        facts_apart=False,
        by_spelling=False,
        threshold=0.0,
    )


def test_an_asked_time_is_searched_with_the_days_after_it() -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)

    (march,) = periods_asked(search("What was in March 2026?"))

    assert march == {"start": start, "end": start + 31 * DAY + DAYS_AFTER}
    assert periods_asked(search("A dog?")) == []


def test_an_asked_time_is_searched_only_as_far_as_filters_allow() -> None:
    asked, since = "What was in March 2026?", datetime(2026, 3, 20, tzinfo=UTC)

    (march,) = periods_asked(search(asked, from_at=since, to_at=since + DAY))

    assert march == {"start": since, "end": since + DAY}
    assert periods_asked(search(asked, from_at=NOW - DAY)) == []
    assert periods_asked(search("What was in July 2027?")) == []


def test_of_many_asked_times_only_some_are_searched() -> None:
    days = ", ".join(f"on {day} March 2026" for day in range(1, 20))

    assert len(periods_asked(search(f"What was {days}?"))) == MAX_PERIODS
