"""Text as people type it: cleaned of characters no store can hold, cut into sentences and words."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff\ufffe\uffff\ud800-\udfff]"
)
# Signs that stand on or around a letter, such as the vowels of Hindi and Thai.
COMBINING_MARKS = "".join(
    letter for letter in map(chr, range(0x300, 0x20000)) if unicodedata.category(letter)[0] == "M"
)
SPACES = re.compile(r"[^\S\n]+")
COMBINING_MARK_SET = frozenset(COMBINING_MARKS)
WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
NOT_WORD = re.compile(r"[\W_]+")
# For texts with combining marks; twenty times slower.
MARKED_WORD = re.compile(rf"[\w{COMBINING_MARKS}]+(?:['\u2019-][\w{COMBINING_MARKS}]+)*")
NOT_MARKED_WORD = re.compile(rf"[^\w{COMBINING_MARKS}]+")
STRAIGHT_QUOTES = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
    | {"\u2013": "-", "\u2014": " - ", "\u2026": "..."}
)

# A sentence ends at its punctuation, at a line end, or at an emoji when a capital follows. Dots
# inside numbers and names (3.5, e.g., example.org) have no space after them. The quantifiers are
# possessive, so that a long run of punctuation takes linear time.
SENTENCE_END = re.compile(
    r"(?<![.!?\u2026])[.!?\u2026]++[\"'\u201d\u2019)\]]*+(?=\s|$)|[\u3002\uff01\uff1f\u0964\u061f]+|\n+"
    r"|[\U0001f000-\U0001faff\u2600-\u27bf]\ufe0f?(?=\s+[A-Z])"
)
ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|etc|e\.g|i\.e|[A-HJ-Z]|[apm])\.$"
)
ABBREVIATION_WINDOW = 10  # characters before a full stop that are enough to see an abbreviation


def clean_text(text: str) -> str:
    """The text without control characters, lone surrogates and runs of spaces."""
    lines = SPACES.sub(" ", UNPRINTABLE.sub("", text)).split("\n")
    return "\n".join(line for line in map(str.strip, lines) if line)


def without_unprintable(text: str) -> str:
    """The text without control characters and lone surrogates; its lines stay as they are."""
    return UNPRINTABLE.sub("", text)


def straighten_quotes(text: str) -> str:
    """The text with ASCII quotes and dashes instead of typographic ones."""
    return text.translate(STRAIGHT_QUOTES)


def sentence_ends(text: str) -> Iterator[int]:
    """The position after each end of a sentence. Text without such an end may follow the last."""
    start = 0
    for match in SENTENCE_END.finditer(text):
        end = match.end()
        if not ABBREVIATION.search(text[max(start, end - ABBREVIATION_WINDOW) : end]):
            yield end
            start = end


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, with their punctuation."""
    places = [0, *sentence_ends(text), len(text)]
    pieces = [text[start:end].strip() for start, end in pairwise(places)]
    return [piece for piece in pieces if piece]


def has_combining_marks(text: str) -> bool:
    """Whether a text needs the slower word pattern."""
    return not text.isascii() and not COMBINING_MARK_SET.isdisjoint(text)


def words(text: str) -> list[str]:
    """The words of a text as they are written, in order."""
    if has_combining_marks(text):
        return MARKED_WORD.findall(text.replace("_", " "))
    return WORD.findall(text)


def fingerprint(text: str) -> str:
    """The text folded: equal for texts that differ in case, punctuation, spaces or Unicode form."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if has_combining_marks(folded):
        return NOT_MARKED_WORD.sub(" ", folded.replace("_", " ")).strip()
    return NOT_WORD.sub(" ", folded).strip()
