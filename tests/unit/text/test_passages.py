"""Long texts as passages: where they are cut, and that nothing is lost or takes long."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import bounds
from engine.text import PASSAGE_WORDS, split_passages
from engine.text.passages import LARGEST_PASSAGE, MAX_PASSAGES, count_words

SENTENCE = "The kettle by the north window whistles at seven and nobody minds it. "  # 13 words
CODE = "```python\ndef water(bed):\n    return bed.area * 3\n```\n"

pytestmark = pytest.mark.spec("SEARCH-10")


def passages(text: str) -> list[str]:
    return [text[span.start : span.end] for span in split_passages(text)]


lines = st.sampled_from(
    [
        SENTENCE,
        SENTENCE * 5,
        "A word.",
        "### A heading\n",
        "Here is what to do:\n",
        "- an item of a list\n",
        "2. another item\n   that goes on\n",
        "| a | table |\n",
        "```\n",
        "\n",
        "    ",
        "x = y * 2\n",
        "没有空格的句子。",
        "z" * 300,
    ]
)
texts = st.text() | st.lists(lines, max_size=60).map("".join)


@given(texts)
def test_passages_are_the_whole_text_in_its_order(text: str) -> None:
    assert "".join(passages(text)) == text


@given(texts)
def test_no_passage_is_larger_than_it_may_be(text: str) -> None:
    spans = split_passages(text)

    assert len(spans) <= MAX_PASSAGES
    for span in spans:
        assert span.words <= LARGEST_PASSAGE


@given(st.lists(st.sampled_from(["One two three four.", "Yes!", "Is it so?"]), max_size=30))
def test_a_text_of_few_words_is_one_passage(sentences: list[str]) -> None:
    text = " ".join(sentences)

    assert len(passages(text)) == min(len(text), 1)


def test_prose_is_cut_at_the_ends_of_sentences() -> None:
    parts = passages(SENTENCE * 40)

    assert 4 <= len(parts) <= 6
    for part in parts:
        assert part.startswith(("The kettle", " The kettle"))
        assert part.rstrip().endswith("minds it.")
        assert count_words(part) <= PASSAGE_WORDS


def test_code_and_a_list_stay_whole_where_they_fit() -> None:
    code = "```python\n" + "value = compute(value, 1)\n" * 40 + "```\n"  # 162 words
    items = "".join(f"- item {number} of the shopping list\n" for number in range(20))  # 140

    parts = passages(SENTENCE * 9 + "\n\n" + code + "\n" + SENTENCE * 9 + "\n" + items)

    assert any(code in part for part in parts)
    assert any(items in part for part in parts)


def test_code_that_does_not_fit_is_cut_between_its_lines() -> None:
    line = "value = compute(value, 1)\n"

    parts = passages("```python\n" + line * 200 + "```\n")

    assert len(parts) > 4
    assert all(part.endswith("\n") for part in parts)


def test_a_heading_stays_with_what_follows_it() -> None:
    sections = [f"### Step {number}\n\n{SENTENCE * 6}\n" for number in range(8)]

    for part in passages("".join(sections)):
        assert not part.rstrip().splitlines()[-1].startswith("#")


def test_a_line_that_introduces_code_stays_with_it() -> None:
    text = SENTENCE * 8 + "\nRun it like this:\n\n" + CODE * 12 + "\n" + SENTENCE * 8

    first_code, *_ = [part for part in passages(text) if "```" in part]

    assert "Run it like this:" in first_code


@pytest.mark.parametrize("letter", ["a", "一", "ก", "\u2588"])
def test_a_run_without_spaces_is_cut_too(letter: str) -> None:
    text = letter * 20_000

    parts = passages(text)

    assert "".join(parts) == text
    assert max(map(len, parts)) <= 16 * LARGEST_PASSAGE


PIECES = [
    "a",
    "I ",
    "word ",
    ". ",
    ".",
    "一",
    "\n",
    "- a\n",
    "x:\n",
    "```\n",
    "~~~ ```\n",
    "St. ",
    "# h\n",
    " ",
    "|a|\n",
    "**",
    "**a**\n",
    "1. ",
    "\t",
    SENTENCE,
    CODE,
]


@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_with_the_length_of_a_text_and_no_faster(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        tries = []
        for _ in range(3):
            start = time.thread_time()
            split_passages(text)
            tries.append(time.thread_time() - start)
        return min(tries)

    short, long = seconds(bounds.MESSAGE // 4), seconds(bounds.MESSAGE)

    assert long < max(0.05, 10 * short)  # four times the text; sixteen times would be quadratic
    assert len(split_passages(piece * (bounds.MESSAGE // len(piece)))) <= MAX_PASSAGES


@settings(max_examples=20, deadline=None)  # a deadline would count a busy machine
@given(st.text(min_size=1, max_size=12))
def test_no_repeated_text_takes_long(piece: str) -> None:
    start = time.thread_time()
    split_passages(piece * (bounds.MESSAGE // len(piece)))

    assert time.thread_time() - start < 1
