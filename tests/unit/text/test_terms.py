"""The terms by which words are matched exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text import question_terms, term_hash, term_hashes
from engine.text.terms import MAX_TERMS, terms


def test_a_word_counts_in_any_form_and_function_words_not_at_all() -> None:
    assert [*terms("The walks, walking: Ana's 2nd walk_path v2.5?")] == [
        "walk",
        "walk",
        "ana",
        "2nd",
        "walk",
        "path",
        "v2",
        "5",
    ]


def test_a_script_without_spaces_gives_pairs_of_characters() -> None:
    assert [*terms("我住在里斯本 now")] == ["我住", "住在", "在里", "里斯", "斯本", "now"]
    assert [*terms("猫")] == ["猫"]


@pytest.mark.parametrize("text", ["नमस्ते दुनिया", "ที่ไหน", "Zoë\u2019s café", "_", "", "'"])
def test_any_text_has_terms_that_its_words_ask_for(text: str) -> None:
    hashes, counts = term_hashes(text)

    assert set(question_terms(text.split()).tolist()) == set(hashes.tolist())
    assert len(hashes) == len(counts)


@given(st.text(max_size=300))
def test_hashes_are_sorted_and_each_stands_once(text: str) -> None:
    hashes, counts = term_hashes(text)

    assert hashes.tolist() == sorted({*map(term_hash, terms(text))})
    assert counts.sum() == len([*terms(text)])


def test_a_term_is_the_same_number_in_every_process() -> None:
    assert term_hash("lisbon") == 543183029


def test_counts_and_terms_are_bounded() -> None:
    hashes, counts = term_hashes("walk " * 1_000 + " ".join(f"n{n}" for n in range(3_000)))

    assert len(hashes) == MAX_TERMS
    assert counts.max() == 255
    assert hashes.dtype == np.uint32
