"""The words of a model's vocabulary, and which of them are close in meaning."""

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.embedding.vectors import Vector

WORD = re.compile(r"[a-z]{3,}")
MAX_WORDS = 65_535  # so that a word's position fits into two bytes
BATCH_SIZE = 256  # words compared or encoded together
MIN_SIMILARITY = 0.45  # cosine from which one word counts as a match for another, at least
MATCHING_SHARE = 0.005  # of all pairs of words, that match each other
SAMPLE_SIZE = 1500  # words from which that cosine is estimated
WORD_START = "\u2581"  # before the first piece of a word, in vocabularies made by SentencePiece


class Lexicon:
    """Words by their position, and a sparse matrix of the cosines between similar ones."""

    def __init__(
        self,
        words: Sequence[str],
        starts: npt.NDArray[np.int64],
        neighbors: npt.NDArray[np.uint16],
        similarities: npt.NDArray[np.float16],
    ) -> None:
        self.positions = {word: position for position, word in enumerate(words)}
        # Row n of the matrix is neighbors[starts[n]:starts[n + 1]], with their similarities.
        self._starts = starts
        self._neighbors = neighbors
        self._similarities = similarities

    @classmethod
    def of(
        cls, words: Sequence[str], vectors: Vector, *, min_similarity: float = MIN_SIMILARITY
    ) -> "Lexicon":
        """Compares every word with every other, which takes seconds for a whole vocabulary."""
        starts, neighbors, similarities = [0], [np.zeros(0, np.uint16)], [np.zeros(0, np.float16)]
        for first in range(0, len(words), BATCH_SIZE):
            cosines = vectors[first : first + BATCH_SIZE] @ vectors.T
            rows, columns = np.nonzero(cosines >= min_similarity)
            starts += (starts[-1] + np.cumsum(np.bincount(rows, minlength=len(cosines)))).tolist()
            neighbors.append(columns.astype(np.uint16))
            similarities.append(cosines[rows, columns].astype(np.float16))
        return cls(words, np.array(starts), np.concatenate(neighbors), np.concatenate(similarities))

    @classmethod
    def read(cls, words: Sequence[str], file: Path) -> "Lexicon":
        """The lexicon that `save` wrote, for the same words."""
        arrays = np.load(file)
        return cls(words, arrays["starts"], arrays["others"], arrays["nearness"])

    def save(self, file: Path) -> None:
        """Write the matrix to a file. Safe when several processes do it at once."""
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_suffix(f".{os.getpid()}.npz")
        np.savez(
            temporary, starts=self._starts, others=self._neighbors, nearness=self._similarities
        )
        temporary.rename(file)

    def neighbors(self, word: str) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.float16]]:
        """The positions of the words similar to a known word, itself among them; the cosines."""
        position = self.positions[word]
        stored = slice(self._starts[position], self._starts[position + 1])
        return self._neighbors[stored], self._similarities[stored]


def load_lexicon(
    vocabulary: Sequence[str],
    file: Path | None,
    encode: Callable[[Sequence[str]], Sequence[Vector]],
    dimensions: int,
    *,
    min_similarity: float | None = None,
) -> Lexicon:
    """The lexicon of a vocabulary, read from its file, or made and written to it. Blocks.

    Words match from the cosine `min_similarity` on; without it, it is estimated.
    """
    words = whole_words(vocabulary)
    if file and file.exists():
        return Lexicon.read(words, file)
    vectors = np.zeros((len(words), dimensions), np.float32)
    for first in range(0, len(words), BATCH_SIZE):
        vectors[first : first + BATCH_SIZE] = encode(words[first : first + BATCH_SIZE])
    if min_similarity is None:
        min_similarity = estimate_min_similarity(vectors)
    lexicon = Lexicon.of(words, vectors, min_similarity=min_similarity)
    if file and words:
        lexicon.save(file)
    return lexicon


def whole_words(vocabulary: Sequence[str]) -> list[str]:
    """The entries of a vocabulary that are words, without those that only continue one."""
    starts = [word.removeprefix(WORD_START) for word in vocabulary if word.startswith(WORD_START)]
    return [word for word in starts or vocabulary if WORD.fullmatch(word)][:MAX_WORDS]


def estimate_min_similarity(vectors: Vector) -> float:
    """The cosine that only `MATCHING_SHARE` of all pairs reach, by a sample of the words.

    Never less than `MIN_SIMILARITY`, which a few words are compared by.
    """
    if len(vectors) < SAMPLE_SIZE:
        return MIN_SIMILARITY
    sample = vectors[:: len(vectors) // SAMPLE_SIZE]
    cosines = (sample @ sample.T)[np.triu_indices(len(sample), 1)]
    return max(MIN_SIMILARITY, float(np.quantile(cosines, 1 - MATCHING_SHARE)))
