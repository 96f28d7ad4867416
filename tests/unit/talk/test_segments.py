"""Where one topic ends and the next begins: by silence, by drift, by length; and late messages."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.talk.segments import LEAST, LONGEST, SILENCE, Span, Turn, join, segment

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
            meaning=np.array(TOPICS[word], np.float32) if word in TOPICS else None,
        )
        for place, word in enumerate(topics.split(), first)
    ]


def told(segments: Sequence[Sequence[Turn]]) -> list[str]:
    words = [
        ["?" if turn.content == "And then?" else turn.content for turn in it] for it in segments
    ]
    return [" ".join(it) for it in words]


def test_what_is_about_one_thing_is_one_segment() -> None:
    assert told(segment(talk("tea tea - tea tea tea -"))) == ["tea tea - tea tea tea -"]
    assert segment([]) == []


def test_a_segment_ends_where_the_topic_drifts() -> None:
    found = segment(talk("tea tea tea tea tea cat cat cat cat cat cat"))

    assert told(found) == ["tea tea tea tea tea", "cat cat cat cat cat cat"]


def test_one_remark_about_something_else_ends_nothing() -> None:
    assert len(segment(talk("tea tea tea tea cat tea tea tea tea sea tea tea tea tea"))) == 1


def test_silence_of_hours_ends_a_segment_whatever_is_said() -> None:
    morning, evening = talk("tea tea"), talk("tea -", at=NOON + 2 * MINUTE + SILENCE, first=2)

    assert told(segment(morning + evening)) == ["tea tea", "tea -"]
    assert len(segment(morning + talk("tea", at=NOON + MINUTE + SILENCE - MINUTE, first=2))) == 1


def test_a_question_goes_with_its_answer_and_a_filler_with_what_it_follows() -> None:
    asked = segment(talk("tea tea tea tea ? cat cat cat cat cat"))
    filled = segment(talk("tea tea tea tea - cat cat cat cat cat"))

    assert told(asked) == ["tea tea tea tea", "? cat cat cat cat cat"]
    assert told(filled) == ["tea tea tea tea -", "cat cat cat cat cat"]


def test_a_short_beginning_waits_for_enough_to_be_a_segment() -> None:
    found = segment(talk("tea tea " + "cat " * 10))

    assert all(len(it) >= LEAST for it in found)


def test_a_segment_that_never_drifts_ends_when_it_is_too_long() -> None:
    fillers = segment(talk("- " * (2 * LONGEST + 1)))
    one_topic = segment(talk("tea " * (3 * LONGEST)))

    assert [len(it) for it in fillers] == [LONGEST, LONGEST, 1]
    assert all(len(it) <= LONGEST for it in one_topic)


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
            replace(it, said_at=it.said_at + SILENCE * (at >= place)) for at, it in enumerate(said)
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

    joined, alone = join(spans, [Turn(id_, at, "Sam", "Hm.") for id_, at in late.items()])

    found = {id_: [turn.id for turn in turns] for id_, turns in joined.items()}
    assert found == {"early": ["first", "within", "after"], "middle": ["before"]}
    assert [[turn.id for turn in run] for run in alone] == [["at night", "a little later"]]
