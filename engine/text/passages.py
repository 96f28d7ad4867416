"""Cuts a long text into passages: parts of about one size that can be found and read alone.

A passage ends where a sentence ends. A block of code and a list stay whole where they fit, and a
heading stays with what follows it. Pure functions, in time linear in the text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil

from engine.text.prose import sentence_ends

PASSAGE_WORDS = 120  # a longer text becomes several passages of about this size
WHOLE_WORDS = 200  # a list, a block of code or a sentence up to this size is never cut
SMALL_WORDS = 40  # a passage below this size takes in what would not fit otherwise
LARGEST_PASSAGE = WHOLE_WORDS + SMALL_WORDS  # words
MAX_PASSAGES = 200  # of one text; passages of a text with very many words are larger

# Scripts without spaces: Thai, Lao, Burmese, Khmer, Chinese and Japanese.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U000323af"
# What counts as a word here: four letters of an unspaced script, and sixteen of anything else, so
# that an unbroken run has a size too.
WORD_SIZED = re.compile(rf"[{UNSPACED}]{{1,4}}|[^\s{UNSPACED}]{{1,16}}|\s{{16}}")

LINE = re.compile(r"[^\n]*\n|[^\n]+")
FENCE = re.compile(r"\s*(```|~~~)")
LIST_LINE = re.compile(r"\s*(?:[-*+\u2022|]|\d{1,3}[.)])(?:\s|$|(?<=\|))")
INDENTED = re.compile(r"(?:\t| {2})\s*\S")
HEADING = re.compile(r"\s{0,3}(?:#{1,6}\s|\*\*[^*]{1,120}\*\*:?\s*$|\S[^\n]{0,120}:\**\s*$)")

PROSE, LIST, CODE, TITLE = "prose", "list", "code", "title"


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text, by the positions of its first character and of the one after its last."""

    start: int
    end: int
    words: int  # its size; see `WORD_SIZED`
    is_title: bool = False  # belongs to what follows it

    def and_next(self, following: "Span") -> "Span":
        """This part and the one that follows it, as one."""
        return Span(self.start, following.end, self.words + following.words, following.is_title)


def split_passages(text: str) -> list[Span]:
    """The passages of a text, in order. Together they are the whole text, and none overlap."""
    parts = list(with_titles(uncut_parts(text)))
    size = max(PASSAGE_WORDS, ceil(2 * sum(part.words for part in parts) / MAX_PASSAGES))
    passages: list[Span] = []
    for part in parts:
        if passages and fits(passages[-1], part, size):
            passages[-1] = passages[-1].and_next(part)
        else:
            passages.append(part)
    if len(passages) > 1 and passages[-1].words < SMALL_WORDS:
        *_, before, last = passages
        if before.words + last.words <= max(size, LARGEST_PASSAGE):
            passages[-2:] = [before.and_next(last)]
    return passages


def fits(passage: Span, part: Span, size: int) -> bool:
    """Whether a part goes into the passage before it."""
    words = passage.words + part.words
    return words <= size or (passage.words < SMALL_WORDS and words <= LARGEST_PASSAGE)


def with_titles(parts: Iterable[Span]) -> Iterator[Span]:
    """The same parts, each title joined to what follows it."""
    title: Span | None = None
    for part in parts:
        joined = title.and_next(part) if title else part
        if joined.is_title and joined.words < SMALL_WORDS:
            title = joined
        elif title and joined.words > LARGEST_PASSAGE:
            yield title
            yield part
            title = None
        else:
            yield joined
            title = None
    if title:
        yield title


def uncut_parts(text: str) -> Iterator[Span]:
    """The smallest parts of a text that stay whole, in order."""
    for kind, start, end in blocks(text):
        words = count_words(text[start:end])
        if kind == TITLE and words <= SMALL_WORDS:
            yield Span(start, end, words, is_title=True)
        elif kind in (LIST, CODE) and words <= WHOLE_WORDS:
            yield Span(start, end, words)
        elif kind == LIST:
            for item_start, item_end in list_items(text, start, end):
                yield from whole_or_sentences(text, item_start, item_end)
        elif kind == CODE:
            for line in LINE.finditer(text, start, end):
                yield from whole_or_cut(text, line.start(), line.end())
        else:
            yield from sentence_parts(text, start, end)


def blocks(text: str) -> Iterator[tuple[str, int, int]]:
    """The kind, start and end of each run of lines of one kind; empty lines end nothing."""
    kind, start, fence = "", 0, ""
    for line in LINE.finditer(text):
        written = line[0]
        fenced = FENCE.match(written)
        if fence:  # inside a block of code
            if fenced and fenced[1] == fence:
                yield CODE, start, line.end()
                kind, start, fence = "", line.end(), ""
            continue
        if written.isspace():
            continue
        line_kind = CODE if fenced else kind_of_line(written, kind)
        if kind and (line_kind != kind or kind == TITLE):
            yield kind, start, line.start()
            start = line.start()
        kind, fence = line_kind, fenced[1] if fenced else ""
    if start < len(text):
        yield kind or PROSE, start, len(text)


def kind_of_line(line: str, before: str) -> str:
    """The kind of a line outside of code, after a line of the kind `before`."""
    if LIST_LINE.match(line) or (before == LIST and INDENTED.match(line)):
        return LIST
    return TITLE if HEADING.match(line) else PROSE


def list_items(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The start and end of each item of a list, with the lines that continue it."""
    item_start = start
    for line in LINE.finditer(text, start, end):
        if line.start() > item_start and LIST_LINE.match(line[0]):
            yield item_start, line.start()
            item_start = line.start()
    yield item_start, end


def whole_or_sentences(text: str, start: int, end: int) -> Iterator[Span]:
    """The part whole when it is small enough, otherwise its sentences."""
    words = count_words(text[start:end])
    if words <= WHOLE_WORDS:
        yield Span(start, end, words)
    else:
        yield from sentence_parts(text, start, end)


def sentence_parts(text: str, start: int, end: int) -> Iterator[Span]:
    """The sentences of a part; one that is too long in pieces."""
    first = start
    for place in sentence_ends(text[start:end]):
        yield from whole_or_cut(text, first, start + place)
        first = start + place
    if first < end:
        yield from whole_or_cut(text, first, end)


def whole_or_cut(text: str, start: int, end: int) -> Iterator[Span]:
    """The part whole when it is small enough, otherwise in pieces of the size of a passage."""
    ends = [match.end() for match in WORD_SIZED.finditer(text, start, end)]
    if len(ends) <= WHOLE_WORDS:
        yield Span(start, end, len(ends))
        return
    first = start
    for place in range(PASSAGE_WORDS, len(ends), PASSAGE_WORDS):
        yield Span(first, ends[place - 1], PASSAGE_WORDS)
        first = ends[place - 1]
    yield Span(first, end, (len(ends) - 1) % PASSAGE_WORDS + 1)


def count_words(text: str) -> int:
    """The size of a text in words, as passages count them."""
    return len(WORD_SIZED.findall(text))
