"""Where one topic ends and the next begins: by silence, by drift, by length; and late messages."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.talk.segments import (
    MAX_SEGMENT_MESSAGES,
    MIN_SEGMENT_MESSAGES,
    SILENCE,
    Span,
    Turn,
    assign_late_turns,
    segment,
)

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
TOPICS = {"tea": (1, 0, 0), "cat": (0, 1, 0), "sea": (0, 0, 1)}


def talk(topics: str, *, at: datetime = NOON, first: int = 0) -> list[Turn]:
    """A message a minute, each of one topic; `-` is a filler, `?` a bare question."""
    return [
        Turn(
            id=f"m{place:03}",
            said_at=at + (place - first) * MINUTE,
            speaker="Sam",
            content="And then?" if word == "?" else word,
            embedding=np.array(TOPICS[word], np.float32) if word in TOPICS else None,
        )
        for place, word in enumerate(topics.split(), first)
    ]


def topics_of(segments: Sequence[Sequence[Turn]]) -> list[str]:
    """The segments as strings of the kind `talk` takes."""
    return [
        " ".join("?" if turn.content == "And then?" else turn.content for turn in turns)
        for turns in segments
    ]


def test_what_is_about_one_thing_is_one_segment() -> None:
    assert topics_of(segment(talk("tea tea - tea tea tea -"))) == ["tea tea - tea tea tea -"]
    assert segment([]) == []


def test_a_segment_ends_where_the_topic_drifts() -> None:
    segments = segment(talk("tea tea tea tea tea cat cat cat cat cat cat"))

    assert topics_of(segments) == ["tea tea tea tea tea", "cat cat cat cat cat cat"]


def test_one_remark_about_something_else_ends_nothing() -> None:
    assert len(segment(talk("tea tea tea tea cat tea tea tea tea sea tea tea tea tea"))) == 1


def test_silence_of_hours_ends_a_segment_whatever_is_said() -> None:
    morning, evening = talk("tea tea"), talk("tea -", at=NOON + 2 * MINUTE + SILENCE, first=2)

    assert topics_of(segment(morning + evening)) == ["tea tea", "tea -"]
    assert len(segment(morning + talk("tea", at=NOON + MINUTE + SILENCE - MINUTE, first=2))) == 1


def test_a_question_goes_with_its_answer_and_a_filler_with_what_it_follows() -> None:
    asked = segment(talk("tea tea tea tea ? cat cat cat cat cat"))
    filled = segment(talk("tea tea tea tea - cat cat cat cat cat"))

    assert topics_of(asked) == ["tea tea tea tea", "? cat cat cat cat cat"]
    assert topics_of(filled) == ["tea tea tea tea -", "cat cat cat cat cat"]


def test_a_short_beginning_waits_for_enough_to_be_a_segment() -> None:
    segments = segment(talk("tea tea " + "cat " * 10))

    assert all(len(turns) >= MIN_SEGMENT_MESSAGES for turns in segments)


def test_a_segment_that_never_drifts_ends_when_it_is_too_long() -> None:
    fillers = segment(talk("- " * (2 * MAX_SEGMENT_MESSAGES + 1)))
    one_topic = segment(talk("tea " * (3 * MAX_SEGMENT_MESSAGES)))

    assert [len(turns) for turns in fillers] == [MAX_SEGMENT_MESSAGES, MAX_SEGMENT_MESSAGES, 1]
    assert all(len(turns) <= MAX_SEGMENT_MESSAGES for turns in one_topic)


def test_the_order_of_arrival_does_not_matter() -> None:
    said = talk("tea tea tea tea tea cat cat cat cat cat")

    assert segment(said[::-1]) == segment(said)


STRETCH = st.tuples(st.sampled_from(["tea", "cat", "sea", "-", "?"]), st.integers(1, 9))


@given(
    stretches=st.lists(STRETCH, min_size=1, max_size=25),
    silences=st.sets(st.integers(0, 200), max_size=4),
    arrivals=st.lists(st.integers(1, 30), min_size=1, max_size=12),
)
def test_going_on_from_the_last_segment_is_beginning_anew(
    stretches: list[tuple[str, int]], silences: set[int], arrivals: list[int]
) -> None:
    said = talk(" ".join(" ".join([word] * count) for word, count in stretches))
    for place in silences:
        said = [
            replace(turn, said_at=turn.said_at + SILENCE * (index >= place))
            for index, turn in enumerate(said)
        ]

    closed: list[list[Turn]] = []
    last: list[Turn] = []
    start = 0
    for count in [*arrivals, len(said)]:
        arrived = said[start : start + count]
        start += count
        if arrived:
            *more, last = segment([*last, *arrived])
            closed += more

    assert [*closed, last] == segment(said)


def test_a_late_message_joins_the_segment_of_its_time() -> None:
    spans = [
        Span("early", NOON, NOON + HOUR),
        Span("middle", NOON + 2 * HOUR, NOON + 3 * HOUR),
        Span("next day", NOON + 24 * HOUR, NOON + 25 * HOUR),
    ]
    late = {
        "within": NOON + 30 * MINUTE,
        "after": NOON + HOUR + 10 * MINUTE,
        "before": NOON + 2 * HOUR - 10 * MINUTE,
        "first": NOON - HOUR,
        "at night": NOON + 12 * HOUR,
        "a little later": NOON + 12 * HOUR + MINUTE,
    }

    joined, alone = assign_late_turns(
        spans, [Turn(id_, at, "Sam", "Hm.") for id_, at in late.items()]
    )

    joined_ids = {id_: [turn.id for turn in turns] for id_, turns in joined.items()}
    assert joined_ids == {"early": ["first", "within", "after"], "middle": ["before"]}
    assert [[turn.id for turn in run] for run in alone] == [["at night", "a little later"]]
