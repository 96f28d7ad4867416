"""A parsed question, prepared to be compared with tables of items.

Every weight follows from the question and from fixed statistics of the language, never from the
items it is compared with: so the same item scores the same whichever others were found with it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.embedding import Lexicon, Vector
from engine.recall.fulltext import MAX_TERM_CHARACTERS, rarest_words
from engine.recall.questions import Question
from engine.recall.tables import FloatArray, InvertedIndex, ItemTable, QuantizedQuestion
from engine.text import question_terms

# BM25 with the usual constants. The mean length of a text is a constant too: that of a turn.
K1, B, MEAN_TERMS = 1.2, 0.75, 20


@dataclass(frozen=True, slots=True)
class AskedWord:
    """A word of the question with those similar to it."""

    weight: float  # of all words together 1
    positions: npt.NDArray[np.uint16]  # in the lexicon
    matches: npt.NDArray[np.float64]  # how much each counts, 0 to 1


@dataclass(frozen=True, slots=True)
class Asked:
    """What is compared with each item."""

    question: Question
    vector: Vector
    quantized: QuantizedQuestion
    words: tuple[AskedWord, ...]
    positions: npt.NDArray[np.uint16]  # those of all words, one after another
    matches: npt.NDArray[np.float64]  # how much each of these counts
    word_ends: tuple[int, ...]  # where the positions of each word end
    terms: npt.NDArray[np.uint32]  # stemmed words of the question, as they are stored
    term_weights: npt.NDArray[np.float64]  # all together 1

    @classmethod
    def of(cls, question: Question, vector: Vector, lexicon: Lexicon) -> "Asked":
        known = (word for word in question.words if word in lexicon.positions)
        words = rarest_words(known, lexicon.positions)
        weights = shares([rarity(word, lexicon.positions) for word in words])
        terms = {
            int(term): rarity(word, lexicon.positions)
            for word in rarest_words(question.words, lexicon.positions)
            # Of a page without spaces, its beginning.
            for term in question_terms([word[:MAX_TERM_CHARACTERS]])
        }
        term_weights = shares([*terms.values()])
        asked_words = [
            AskedWord(weight, *similar_words(lexicon, word))
            for word, weight in zip(words, weights, strict=True)
        ]
        return cls(
            question,
            vector,
            QuantizedQuestion.of(vector),
            tuple(asked_words),
            np.concatenate([np.zeros(0, np.uint16), *(word.positions for word in asked_words)]),
            np.concatenate([np.zeros(0), *(word.matches for word in asked_words)]),
            tuple(accumulate(len(word.positions) for word in asked_words)),
            np.array([*terms], np.uint32),
            np.array(term_weights, float),
        )

    def word_match(self, words: InvertedIndex, count: int) -> FloatArray:
        """How much of the question's words each of `count` items has, 0 to 1.

        Similar words count by the square of their cosine. A rare word counts more.
        """
        total = np.zeros(count)
        best = np.zeros(count)
        numbers, places = words.find(self.positions)
        all_rows, all_matches = words.rows[places], self.matches[numbers]
        ends = numbers.searchsorted(self.word_ends).tolist()
        for word, start, end in zip(self.words, [0, *ends], ends, strict=False):
            if start == end:
                continue
            rows = all_rows[start:end]
            np.maximum.at(best, rows, all_matches[start:end])
            total[rows] += word.weight * best[rows]
            best[rows] = 0.0
        return total

    def term_match(self, table: ItemTable) -> FloatArray:
        """The BM25 score of each item, as a share of what a perfect match would have."""
        scores = np.zeros(len(table))
        numbers, places = table.terms.find(self.terms)
        if not len(places):
            return scores
        rows, counts = table.terms.rows[places], table.terms.counts[places].astype(float)
        norm = K1 * (1 - B + B * table.term_totals[rows] / MEAN_TERMS)
        parts = self.term_weights[numbers] * counts * (K1 + 1) / (counts + norm)
        np.add.at(scores, rows, parts)
        return scores / (K1 + 1)


def similar_words(
    lexicon: Lexicon, word: str
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.float64]]:
    """The positions of a word and of those similar to it, and how much each counts."""
    positions, similarities = lexicon.neighbors(word)
    return positions, similarities.astype(np.float64) ** 2


def rarity(word: str, positions: Mapping[str, int]) -> float:
    """How much a word tells, by its rank in a vocabulary that has its common words first."""
    return math.log(2 + positions.get(word, len(positions)))


def shares(values: list[float]) -> list[float]:
    total: Any = sum(values)
    return [value / total for value in values] if total else values
