"""What a stretch of talk is called, and what sums it up: in words that were said."""

from datetime import UTC, datetime, timedelta

import numpy as np

from engine.talk.gist import key_terms, summary_sentences, topic_label
from engine.talk.segments import Turn

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def said(*contents: str, flagged: tuple[int, ...] = (), embedded: bool = True) -> list[Turn]:
    return [
        Turn(
            id=f"m{place}",
            said_at=NOON + timedelta(minutes=place),
            speaker=("Sam", "Ada")[place % 2],
            content=content,
            flagged=place in flagged,
            embedding=np.ones(3, np.float32) / np.float32(np.sqrt(3)) if embedded else None,
        )
        for place, content in enumerate(contents)
    ]


KNEE = (
    "My mother is having a knee operation on Monday, Ada.",
    "A knee operation! Is Teresa nervous?",
    "She is brave. I am the one who is nervous about the knee operation.",
    "Thanks for telling me, Sam. Teresa is lucky to have you.",
)


def test_a_label_tells_what_was_talked_about() -> None:
    assert topic_label(said(*KNEE)) == "Teresa, knee operation, nervous"


def test_those_who_talk_and_their_pleasantries_are_no_topic() -> None:
    talk = [
        "Thanks, Catherine! Awesome.",
        "Wow, Bea, on the 12th?",
        "Yes, the kiln. So glad, Catherine.",
    ]

    assert key_terms(talk, speakers=["Catherine", "Beatrice"]) == ["kiln"]


def test_a_label_has_no_word_that_only_flagged_messages_say() -> None:
    talk = ["My deposit is gone.", "The deposit, and the landlord?", "The landlord drinks gin."]

    assert topic_label(said(*talk)) == "Deposit, landlord, drinks"
    assert topic_label(said(*talk, flagged=(2,))) == "Deposit, landlord"
    assert topic_label(said(*talk, flagged=(0, 1, 2))) == "1 May 2026"


def test_where_nothing_is_named_the_label_is_the_day() -> None:
    assert topic_label(said("Good morning!", "Hi, Sam.")) == "1 May 2026"


def test_what_most_messages_speak_of_comes_first() -> None:
    ranked = summary_sentences(
        said(
            "It rained on Tuesday.",
            "The kiln at the pottery is broken again.",
            "Helena says the kiln needs new bricks. Right?",
            "A new kiln for the pottery costs two thousand.",
        )
    )

    assert [part.text for part in ranked][-1] == "Sam: It rained on Tuesday."
    assert ranked[0].text.count("kiln") == 1
    assert [
        (part.message_id, part.place) for part in sorted(ranked, key=lambda part: part.place)
    ] == [(f"m{place}", place) for place in range(4)]


def test_each_message_gives_its_best_sentence_and_who_said_it() -> None:
    (part,) = summary_sentences(said("Right? The kiln at the pottery is broken again. Oh."))

    assert part.text == "Sam: The kiln at the pottery is broken again."


def test_greetings_and_fillers_sum_nothing_up() -> None:
    assert summary_sentences(said("Good morning!", "haha", embedded=False)) == []


def test_a_sentence_that_goes_on_and_on_is_cut_after_a_word() -> None:
    (part,) = summary_sentences(said("kiln " * 4000))

    assert len(part.text) < 260
    assert part.text.endswith("kiln …")


def test_a_long_talk_of_long_messages_is_summed_up_at_once() -> None:
    long = " ".join(f"The kiln number {place} is broken." for place in range(600))

    started = datetime.now(UTC)
    summary_sentences(said(*[long] * 60))

    assert datetime.now(UTC) - started < timedelta(seconds=10)
