"""The terms of a text, by which words are matched exactly: stems, as numbers of 32 bits."""

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from engine.text.languages import STEM_CACHE_SIZE, stem_of
from engine.text.passages import UNSPACED
from engine.text.prose import COMBINING_MARKS, has_combining_marks, straighten_quotes
from engine.text.stop_words import FUNCTION_WORDS

# The different terms of a text, sorted, and how often each occurs.
TermHashes = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]

MAX_TERMS = 1_000  # different ones of one text
MAX_COUNT = 255  # how often a term is counted at most; a packed count has one byte
MAX_CHARACTERS = 64  # of a term; what follows is not compared

# A run of an unspaced script, or a word: names, numbers, and the parts of identifiers.
TERM = re.compile(rf"([{UNSPACED}]+)|[^\W_{UNSPACED}]+(?:'[^\W_{UNSPACED}]+)*")
MARKED_TERM = re.compile(
    rf"([{UNSPACED}]+)|(?:[^\W_{UNSPACED}]|[{COMBINING_MARKS}])+"
    rf"(?:'(?:[^\W_{UNSPACED}]|[{COMBINING_MARKS}])+)*"
)


def terms(text: str) -> Iterator[str]:
    """The terms of a text in their order, function words left out.

    A word gives its stem; a run of a script without spaces gives each pair of its characters.
    """
    folded = straighten_quotes(text).lower()
    pattern = MARKED_TERM if has_combining_marks(folded) else TERM
    for match in pattern.finditer(folded):
        unspaced, word = match[1], match[0]
        if unspaced:
            yield from (unspaced[place : place + 2] for place in range(max(1, len(unspaced) - 1)))
        elif word not in FUNCTION_WORDS:
            yield stem_of(word[:MAX_CHARACTERS])


@lru_cache(maxsize=STEM_CACHE_SIZE)
def term_hash(term: str) -> int:
    """A term as a number of 32 bits, the same in every process."""
    return zlib.crc32(term.encode(errors="surrogatepass"))


def term_hashes(text: str) -> TermHashes:
    """The different terms of a text as sorted hashes, and how often each occurs in it.

    Of a text with more than `MAX_TERMS`, the first of them.
    """
    counted: Counter[int] = Counter()
    for term in terms(text):
        key = term_hash(term)
        if key in counted or len(counted) < MAX_TERMS:
            counted[key] += 1
    hashes = np.array(sorted(counted), np.uint32)
    counts = [min(MAX_COUNT, counted[key]) for key in hashes.tolist()]
    return hashes, np.array(counts, np.uint8)


def question_terms(words: Iterable[str]) -> npt.NDArray[np.uint32]:
    """The hashes of the terms that the words of a question have, each once, in their order."""
    found = dict.fromkeys(term_hash(term) for word in words for term in terms(word))
    return np.array(list(found), np.uint32)
