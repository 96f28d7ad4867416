"""Which words may say what forgotten texts were about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text import safe_themes
from engine.text.everyday_words import EVERYDAY_WORDS
from engine.text.stop_words import SMALL_TALK, STOP_WORDS

KILNS = [
    "the kiln is warm again",
    "somebody opened the kiln too soon",
    "a new kiln stands in the yard",
]
TEXT = st.lists(st.sampled_from([*"abcdefg", "garden", "kiln", "Zanzibar", "1987"]), max_size=8)


@pytest.mark.spec("SHAPE-03")
def test_an_everyday_word_names_a_theme_whatever_else_lives() -> None:
    assert safe_themes(["We were in the garden until dusk"], []) == ["garden"]


@pytest.mark.spec("SHAPE-03")
@pytest.mark.parametrize(
    "lost",
    [
        "Zanzibar was loud and Ottilie knew it",
        "the code is 4711 and a1b2c3",
        "an obelisk with a filigree of electrum",
        "i spoke with ottilie about it",
    ],
)
def test_no_name_number_or_rare_word_ever_does(lost: str) -> None:
    assert safe_themes([lost] * 10, [], names=["Ottilie"]) == []


def test_a_word_that_living_texts_use_names_what_several_forgotten_ones_share() -> None:
    lost = ["my kiln broke", "the kiln cracked"]

    assert safe_themes(lost, KILNS) == ["kiln"]
    assert safe_themes(lost, KILNS[:2]) == []
    assert safe_themes(lost[:1], KILNS) == []


def test_a_name_is_none_even_when_it_lives() -> None:
    living = [f"we met {name} today" for name in ("Ottilie", "Ottilie and Bo", "dear Ottilie")]

    assert safe_themes(["with ottilie", "for ottilie"], living) == []


def test_there_are_fewer_themes_than_texts() -> None:
    text = "garden music dog travel school family"

    assert len(safe_themes([text], [])) == 1
    assert len(safe_themes([text] * 4, [])) == 2
    assert len(safe_themes([text.replace(" ", f" and {n} the ") for n in range(40)], [])) == 5


def test_themes_do_not_stand_in_a_row_as_a_forgotten_text_had_them() -> None:
    lost = ["dog garden music", "music garden dog"] * 5

    assert len(safe_themes(lost, [])) == 2


def test_a_word_is_written_as_it_is_known_and_not_as_it_was_lost() -> None:
    assert safe_themes(["all the gardening", "so many gardens"], []) == ["garden"]


@given(st.lists(TEXT, max_size=12), st.lists(TEXT, max_size=6))
def test_every_theme_is_everyday_or_lives(lost: list[list[str]], living: list[list[str]]) -> None:
    lost_texts, living_texts = (
        [" ".join(text) for text in lost],
        [" ".join(text) for text in living],
    )
    themes = safe_themes(lost_texts, living_texts)

    for theme in themes:
        uses = sum(theme in text for text in living)
        assert theme in EVERYDAY_WORDS or uses >= 3
    assert len(themes) <= max(1, len(lost) // 2)


def test_everyday_words_could_name_something() -> None:
    assert not EVERYDAY_WORDS & STOP_WORDS - {"work", "working", "goal", "goals"} & SMALL_TALK
    assert all(word.isalpha() and word.islower() for word in EVERYDAY_WORDS)
