"""One base list, additions that repeat nothing of it, selections that stay within it."""

import pytest

from engine.text.stop_words import (
    DETERMINERS,
    ENGLISH_WORDS,
    FIRST_PERSON,
    FUNCTION_WORDS,
    NAMES_NO_THEME,
    QUESTION_WORDS,
    SECOND_PERSON,
    SMALL_TALK,
    STOP_WORDS,
    UNINFORMATIVE_WORDS,
)


def test_an_addition_holds_only_words_that_the_lists_before_it_lack() -> None:
    assert not NAMES_NO_THEME & STOP_WORDS
    assert not SMALL_TALK & (STOP_WORDS | NAMES_NO_THEME)


@pytest.mark.parametrize(
    ("selection", "beyond"),
    [
        (FUNCTION_WORDS, set()),
        (QUESTION_WORDS, {"kinds", "remember", "sort", "sorts", "told", "type", "types"}),
        (UNINFORMATIVE_WORDS, {"lot"}),
        (ENGLISH_WORDS, set()),
        (DETERMINERS, set()),
        (FIRST_PERSON | SECOND_PERSON, set()),
    ],
)
def test_a_selection_stays_within_the_base(selection: frozenset[str], beyond: set[str]) -> None:
    assert selection - STOP_WORDS == beyond
