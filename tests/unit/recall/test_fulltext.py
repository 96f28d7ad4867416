"""What of a question is looked up in the full-text index."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.recall.fulltext import (
    MAX_CLAUSES,
    MAX_TERMS,
    clauses_of,
    full_text_query,
    rarest_terms,
    rarest_words,
)

POSITIONS = {"the": 0, "and": 1, "house": 2, "garden": 3, "lighthouse": 4}


def test_a_short_question_is_looked_up_whole() -> None:
    assert set(rarest_terms(["house", "garden", "Miso"], POSITIONS)) == {"house", "garden", "miso"}


def test_of_many_words_the_rare_and_the_long_are_kept() -> None:
    common = [f"w{number}" for number in range(400)]
    positions = {word: position for position, word in enumerate(common)}

    kept = rarest_words([*common, "grimwald", "heliotropes"], positions)

    assert len(kept) == MAX_TERMS
    assert kept[:3] == ["heliotropes", "grimwald", "w399"]


def test_a_run_without_spaces_is_looked_up_in_pairs_from_everywhere() -> None:
    assert rarest_terms(["東京都に"], {}) == ['"東京"', '"京都"', '"都に"']
    run = "".join(chr(0x4E00 + offset) for offset in range(4000))

    pairs = rarest_terms([run], {})

    assert len(pairs) == MAX_TERMS
    assert run.index(pairs[0].strip('"')) < 100
    assert run.index(pairs[-1].strip('"')) > 3800


def test_what_stands_between_marks_is_looked_up_and_marks_are_not() -> None:
    assert set(rarest_terms(["t-shirt", "o'neil", "a", "7"], {})) == {"shirt", "neil", "7"}
    assert full_text_query("x1x", ["?!"], {}) == "+search_scope:x1x^0 +text:(nothing)"


@given(st.lists(st.text(max_size=4000), max_size=30))
def test_no_question_has_more_clauses_than_lucene_takes(words: list[str]) -> None:
    terms = rarest_terms(words, POSITIONS)

    assert len(terms) <= MAX_TERMS
    assert sum(map(clauses_of, terms)) <= MAX_CLAUSES
    assert not {*"+-&|!(){}[]^~*?:\\/ "} & {*"".join(terms)}
    assert all(term.count('"') in (0, 2) for term in terms)


@pytest.mark.parametrize("reserved", ["AND", "OR", "NOT", "TO"])
def test_reserved_words_are_words(reserved: str) -> None:
    assert rarest_terms([reserved], {}) == [reserved.lower()]
