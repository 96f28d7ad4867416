"""The frame of a question: each example of each rule, and what stays as it is."""

import time

import pytest

from engine.recall.frames import frame_of, read_rules

RULES = read_rules()
CUTS = [*RULES["cut"], RULES["order"]]


@pytest.mark.parametrize(
    ("question", "topic"), [example for rule in CUTS for example in rule["examples"]]
)
def test_the_frame_is_cut_and_the_topic_stays(question: str, topic: str) -> None:
    assert frame_of(question).topic == topic


@pytest.mark.parametrize("question", [kept for rule in CUTS for kept in rule["kept"]])
def test_what_is_no_frame_stays_to_the_letter(question: str) -> None:
    assert frame_of(question).topic == question


@pytest.mark.parametrize("name", ["asks_persona", "looks_back"])
def test_what_a_question_is_after_is_told_by_its_words(name: str) -> None:
    for question in RULES[name]["examples"]:
        assert getattr(frame_of(question), name), question
    for question in RULES[name]["kept"]:
        assert not getattr(frame_of(question), name), question


def test_a_question_that_is_all_frame_keeps_its_words() -> None:
    assert frame_of("Did I mention").topic == "Did I mention"


def test_a_pasted_page_is_not_searched_for_a_frame() -> None:
    page = "Can you list the order in which I mentioned " + "this and that, " * 250
    started = time.thread_time()

    assert frame_of(page).topic == page
    assert time.thread_time() - started < 1
