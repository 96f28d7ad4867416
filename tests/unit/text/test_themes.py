"""What episodes have in common: which of them, and in what words."""

import pytest

from engine.text.themes import (
    MAX_READ_CHARACTERS,
    WordForms,
    is_about,
    join_with_and,
    name_theme,
    shared_terms,
)

SHIFTS = [
    "I'm so tired after the night shift.",
    "Mostly night shifts, which is why my sleep is a disaster.",
    "Night shift now. Wish me luck",
]


def read(texts: list[str]) -> list[WordForms]:
    return [WordForms.of(text) for text in texts]


def test_texts_that_are_only_alike_in_kind_are_no_theme() -> None:
    near_in_meaning = [
        "An adrenaline pen in the front pocket of my bag.",
        "Twenty minutes in the wind with a bag of clay tools",
        "Chapter one, page one, sore fingers.",
    ]

    assert name_theme(read(near_in_meaning), min_texts=3) == ([], [])


def test_a_theme_takes_in_only_what_speaks_of_it() -> None:
    texts = [SHIFTS[0], "Right, bed.", *SHIFTS[1:], "The phone just rang."]

    assert name_theme(read(texts), min_texts=3) == ([0, 2, 3], ["night shift"])


@pytest.mark.parametrize(
    ("texts", "terms"),
    [
        (SHIFTS, ["night shift"]),
        (
            ["Rui sent a video about the F chord.", "The F chord is a dying fly.", "Three chords."],
            ["F chord"],
        ),
        (["So Helena opened the kiln.", "Helena cried.", "Helena is my teacher."], ["Helena"]),
        (["Tomatoes!", "I watered the tomatoes.", "A green tomato, at last."], ["tomatoes"]),
        (
            ["A pottery studio!", "My pottery class is full.", "Pottery class. I love it."],
            ["pottery"],
        ),
    ],
    ids=lambda value: value[0],
)
def test_a_theme_is_told_as_people_would_say_it(texts: list[str], terms: list[str]) -> None:
    assert shared_terms(read(texts), min_texts=3) == terms


def test_what_somebody_did_names_nothing() -> None:
    deaths = ["Mr Anselmo died.", "My father died in May.", "The printer died."]
    assert shared_terms(read(deaths)) == []
    assert shared_terms(read(["I went to bed.", "Bed!", "A bed of seeds."])) == ["bed"]


def test_a_text_is_about_a_term_when_it_says_a_word_of_it() -> None:
    assert is_about(WordForms.of("The knee is the size of a melon."), "knee operation")
    assert is_about(WordForms.of("No more shifts!"), "night shift")
    assert not is_about(WordForms.of("A quiet night."), "night shift")  # when, not what


def test_of_a_long_text_only_the_beginning_is_read() -> None:
    begins = "The kiln is cold. " + "filler " * MAX_READ_CHARACTERS

    assert (
        WordForms.of(begins + "The glaze is blue.").forms.keys()
        == WordForms.of(begins).forms.keys()
    )


def test_texts_that_share_only_empty_words_have_no_theme() -> None:
    texts = ["I really went out today.", "Today I got a new one.", "It was good, I went today."]

    assert shared_terms(read(texts)) == []


def test_terms_are_told_as_in_a_sentence() -> None:
    assert join_with_and(["pottery"]) == "pottery"
    assert join_with_and(["pottery", "glaze"]) == "pottery and glaze"
    assert join_with_and(["pottery", "glaze", "kiln"]) == "pottery, glaze and kiln"
