"""A question as the full-text index takes it: its most telling words, and no more than it can bear.

Lucene refuses a query of more than 1,024 clauses, and an analyzer makes several of one word: of an
unbroken run of ideographs, one for each.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import ceil

MOST_TERMS = 64  # words of a question that are looked up
MOST_CLAUSES = 512  # that an analyzer can make of them; far from Lucene's 1,024
LONGEST = 255  # characters of a term: Lucene's tokenizer cuts a longer one there
IDEOGRAPHS = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
# Scripts without spaces that the index cuts into single characters.
UNSPACED = re.compile(f"[{IDEOGRAPHS}\u3040-\u309f]+")
IDEOGRAPH_PAIR = re.compile(f"[{IDEOGRAPHS}]{{2}}")
PIECE = re.compile(rf"({UNSPACED.pattern})|[^\W_]+")

MOST_PIECES = 4_000  # of one run without spaces that are looked at

Rank = tuple[int, int]  # the lower, the more telling


def full_text_query(scope: str, words: Sequence[str], places: Mapping[str, int]) -> str:
    """Lucene's syntax for any of the words within one scope, which adds nothing to a score."""
    terms = " ".join(telling_terms(words, places)) or "nothing"
    return f"+search_scope:{scope}^0 +text:({terms})"


def telling_words(words: Iterable[str], places: Mapping[str, int]) -> list[str]:
    """The words that tell most, at most `MOST_TERMS`: rare ones, then long ones.

    `places` is a vocabulary in the order of how common its words are.
    """
    ranked = sorted(dict.fromkeys(words), key=lambda word: rank_of(word, places))
    return ranked[:MOST_TERMS]


def telling_terms(words: Iterable[str], places: Mapping[str, int]) -> list[str]:
    """What of these words is looked up, the most telling first, each a word or a quoted pair."""
    ranked = {
        term: rank
        for word in words
        for term, rank in terms_of(word.lower(), places)
        if len(term) > 1 or not term.isascii() or term.isdigit()
    }
    chosen: list[str] = []
    clauses = 0
    for _, group in groupby(sorted(ranked, key=ranked.__getitem__), key=ranked.__getitem__):
        equal = list(group)
        room = MOST_TERMS - len(chosen)
        if room <= 0:
            break
        for term in equal[:: ceil(len(equal) / room)]:  # of equals, some from everywhere
            clauses += clauses_of(term)
            if clauses > MOST_CLAUSES:
                return chosen
            chosen.append(term)
    return chosen


def terms_of(word: str, places: Mapping[str, int]) -> Iterator[tuple[str, Rank]]:
    """The terms of a word with their rank: cut at marks, and runs without spaces into pairs."""
    for piece in PIECE.finditer(word):
        if not piece[1]:
            for start in range(0, len(piece[0]), LONGEST):
                part = piece[0][start : start + LONGEST]
                yield part, rank_of(part, places)
        elif len(piece[1]) == 1:
            yield piece[1], (1, 0)
        else:
            for pair in pieces_of(piece[1], 2):
                yield f'"{pair}"', (1, 1 - is_ideographic(pair))


def pieces_of(run: str, size: int) -> Iterator[str]:
    """Pieces of a run of letters: all of them, or of a long one some from everywhere."""
    places = range(max(1, len(run) - size + 1))
    for start in places[:: ceil(len(places) / MOST_PIECES)]:
        yield run[start : start + size]


def is_ideographic(pair: str) -> bool:
    return IDEOGRAPH_PAIR.fullmatch(pair) is not None


def rank_of(word: str, places: Mapping[str, int]) -> Rank:
    """Words the vocabulary does not hold first, the longest before; then its rarest."""
    place = places.get(word)
    return (0, -len(word)) if place is None else (2, -place)


def clauses_of(term: str) -> int:
    """How many clauses an analyzer can make of a term, at most."""
    return 1 if term.isascii() else len(term)


def spelled_pieces(text: str) -> list[str]:
    """Pieces of a text that another one is held against letter by letter, from everywhere in it.

    Pairs of what is written without spaces in ideographs, three letters of anything else.
    """
    pieces: dict[str, None] = {}
    for word in text.lower().split():
        size = 2 if UNSPACED.search(word) else 3
        pieces |= dict.fromkeys(pieces_of(word, size))
    found = list(pieces)
    return found[:: ceil(len(found) / MOST_TERMS)] if found else []
