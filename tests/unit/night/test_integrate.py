"""Whether a candidate says again what a memory holds."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engine.night.integrate import decide
from engine.policy.policy import Layer, merge_layers

MORNING = datetime(2026, 5, 8, 7, tzinfo=UTC)


def candidate(candidate_id: str, memory_type: str, said_at: datetime) -> dict[str, Any]:
    properties = {
        "id": candidate_id,
        "memory_type": memory_type,
        "category": None,
        "about": "Sam",
        "content": "{}",
        "fact": None,
        "said_at": said_at,
        "source_id": None,
        "passage": None,
        "embedding": [1.0, 0.0],
    }
    return {"candidate": properties, "near": []}


def passage(number: int, message_id: str) -> dict[str, Any]:
    row = candidate(f"{message_id}-{number}", "episodic", MORNING)
    said = "Sam: The first line of the page."
    row["candidate"] |= {"source_id": message_id, "passage": [number, 2, 0, 10], "text": said}
    return row


def became(memory_type: str, apart: timedelta) -> list[str | None]:
    rows = [candidate("first", memory_type, MORNING), candidate("b", memory_type, MORNING + apart)]
    return [decision.merge_into for decision in decide(rows, {}, {}, merge_layers(Layer()))]


def test_the_same_words_of_feeling_at_another_time_are_another_feeling() -> None:
    assert became("somatic", timedelta(hours=1)) == [None, "first"]
    assert became("somatic", timedelta(hours=9)) == [None, None]


def test_the_same_event_told_on_another_day_is_the_same() -> None:
    assert became("episodic", timedelta(days=3)) == [None, "first"]


def test_a_feeling_that_is_remembered_is_of_its_time_too() -> None:
    row = candidate("now", "somatic", MORNING)
    row["near"] = [
        {"id": "then", "similarity": 1.0, "about": "Sam", "fact": None, "said_at": said_at}
        for said_at in [MORNING - timedelta(days=2)]
    ]

    (decision,) = decide([row], {}, {}, merge_layers(Layer()))

    assert decision.merge_into is None


@pytest.mark.spec("SEARCH-10")
def test_passages_of_one_message_stay_apart_and_merge_into_those_of_another() -> None:
    rows = [passage(1, "first"), passage(2, "first"), passage(1, "second")]

    decisions = decide(rows, {}, {}, merge_layers(Layer()))

    assert [decision.merge_into for decision in decisions] == [None, None, "first-1"]


@pytest.mark.spec("SEARCH-10")
def test_a_passage_that_is_a_memory_already_takes_in_none_of_its_own_message() -> None:
    row = passage(2, "first")
    near = {"id": "first-1", "similarity": 1.0, "about": "Sam", "fact": None, "text": None}
    row["near"] = [{**near, "said_at": MORNING, "source_id": "first"}]

    (decision,) = decide([row], {}, {}, merge_layers(Layer()))

    assert decision.merge_into is None


@pytest.mark.spec("SEARCH-10")
def test_a_passage_that_is_sent_again_with_another_word_is_news() -> None:
    again = passage(1, "second")
    again["candidate"]["text"] = "Sam: The second line of the page."

    decisions = decide([passage(1, "first"), again], {}, {}, merge_layers(Layer()))

    assert [decision.merge_into for decision in decisions] == [None, None]
