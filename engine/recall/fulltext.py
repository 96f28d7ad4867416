"""The full-text query of a question: its rarest words, within the limits of the index.

Lucene refuses a query of more than 1,024 clauses, and an analyzer can make several of one word: one
for each character of an unbroken run of ideographs.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import ceil

MAX_TERMS = 64  # of a question that are looked up
MAX_CLAUSES = 512  # that an analyzer can make of them; far from Lucene's 1,024
MAX_TERM_CHARACTERS = 255  # Lucene's tokenizer cuts a longer term there
MAX_SLICES = 4_000  # of one run without spaces that are considered
IDEOGRAPHS = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
# Scripts without spaces, which the index splits into single characters.
UNSPACED = re.compile(f"[{IDEOGRAPHS}\u3040-\u309f]+")
IDEOGRAPH_PAIR = re.compile(f"[{IDEOGRAPHS}]{{2}}")
UNSPACED_OR_WORD = re.compile(rf"({UNSPACED.pattern})|[^\W_]+")

Rank = tuple[int, int]  # sorts rare terms first


def full_text_query(scope: str, words: Sequence[str], positions: Mapping[str, int]) -> str:
    """Lucene syntax for any of the words within one scope. The scope adds nothing to a score."""
    terms = " ".join(rarest_terms(words, positions)) or "nothing"
    return f"+search_scope:{scope}^0 +text:({terms})"


def rarest_words(words: Iterable[str], positions: Mapping[str, int]) -> list[str]:
    """The rarest of these words, at most `MAX_TERMS`, each once.

    `positions` is a vocabulary with its most common words first.
    """
    ranked = sorted(dict.fromkeys(words), key=lambda word: rank_of(word, positions))
    return ranked[:MAX_TERMS]


def rarest_terms(words: Iterable[str], positions: Mapping[str, int]) -> list[str]:
    """The terms of these words to look up, rarest first: words, or quoted pairs of characters."""
    ranks = {
        term: rank
        for word in words
        for term, rank in ranked_terms(word.lower(), positions)
        if len(term) > 1 or not term.isascii() or term.isdigit()
    }
    chosen: list[str] = []
    clauses = 0
    for _, group in groupby(sorted(ranks, key=ranks.__getitem__), key=ranks.__getitem__):
        equal_terms = list(group)
        room = MAX_TERMS - len(chosen)
        if room <= 0:
            break
        # Evenly spaced, so that terms from the whole question are used.
        for term in equal_terms[:: ceil(len(equal_terms) / room)]:
            clauses += clauses_of(term)
            if clauses > MAX_CLAUSES:
                return chosen
            chosen.append(term)
    return chosen


def ranked_terms(word: str, positions: Mapping[str, int]) -> Iterator[tuple[str, Rank]]:
    """The terms of a word with their rank: split at punctuation, unspaced runs into pairs."""
    for match in UNSPACED_OR_WORD.finditer(word):
        unspaced = match[1]
        if not unspaced:
            for start in range(0, len(match[0]), MAX_TERM_CHARACTERS):
                term = match[0][start : start + MAX_TERM_CHARACTERS]
                yield term, rank_of(term, positions)
        elif len(unspaced) == 1:
            yield unspaced, (1, 0)
        else:
            for pair in slices(unspaced, 2):
                yield f'"{pair}"', (1, 1 - is_ideographic(pair))


def slices(run: str, size: int) -> Iterator[str]:
    """The overlapping slices of a run of letters; of a long run, evenly spaced ones."""
    starts = range(max(1, len(run) - size + 1))
    for start in starts[:: ceil(len(starts) / MAX_SLICES)]:
        yield run[start : start + size]


def is_ideographic(pair: str) -> bool:
    return IDEOGRAPH_PAIR.fullmatch(pair) is not None


def rank_of(word: str, positions: Mapping[str, int]) -> Rank:
    """Sorts words that the vocabulary lacks first, longest before; then its rarest words."""
    position = positions.get(word)
    return (0, -len(word)) if position is None else (2, -position)


def clauses_of(term: str) -> int:
    """The number of clauses an analyzer can make of a term, at most."""
    return 1 if term.isascii() else len(term)


def letter_groups(text: str) -> list[str]:
    """Groups of letters by which texts are compared by spelling, evenly spaced in a long text.

    Pairs in words with ideographs, groups of three in all others.
    """
    groups: dict[str, None] = {}
    for word in text.lower().split():
        size = 2 if UNSPACED.search(word) else 3
        groups |= dict.fromkeys(slices(word, size))
    distinct = list(groups)
    return distinct[:: ceil(len(distinct) / MAX_TERMS)] if distinct else []
