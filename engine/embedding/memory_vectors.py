"""What ranking compares with a question beyond the one vector in the index.

One vector is the mean of everything a memory says. So a memory also has a vector for each of its
sentences, one for its text together with what was said before it, its words, the words of the
question it answers, and its terms, which match exactly. All of it is packed into one property,
small enough to be read for every hit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.embedding.embedder import Embedder
from engine.embedding.lexicon import WORD, Lexicon
from engine.embedding.vectors import Vector
from engine.ids import id_from
from engine.text import FUNCTION_WORDS, TermHashes, sentences, straighten_quotes, term_hashes

MAX_SENTENCES = 12  # of one text that have vectors of their own
MIN_SENTENCE_WORDS = 4  # a shorter sentence says little alone
MAX_WORDS = 400  # of one text
COUNT = np.dtype("<u2")  # of packed vectors, words or terms
HEADER_BYTES = 5 * COUNT.itemsize  # sentences, vectors in context, words, answered words, terms
NO_TERMS: TermHashes = (np.zeros(0, np.uint32), np.zeros(0, np.uint8))


@dataclass(frozen=True, slots=True)
class TextInContext:
    """A text to be remembered, and what was said before it."""

    text: str
    before: str | None = None  # gives a vector of both together
    answers: str | None = None  # the message of another speaker that it may answer
    kept_as: str | None = None  # the stored text, if it differs; its tokens are counted
    by_sentence: bool = True  # whether each sentence gets a vector
    applies_to: str | None = None  # gives a vector of its own, like a sentence


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """The stored properties of a text that search and budgets need."""

    embedding: Vector
    packed_vectors: bytes
    token_estimate: int
    known_share: float  # of the text, that the encoder has words for

    @property
    def properties(self) -> dict[str, Any]:
        return {"embedding": self.embedding, **self.properties_without_embedding}

    @property
    def properties_without_embedding(self) -> dict[str, Any]:
        """For statements that take the embedding as a parameter of its own."""
        return {
            "packed_vectors": self.packed_vectors,
            "token_estimate": self.token_estimate,
            "known_share": self.known_share,
        }


async def embed_in_context(
    embedder: Embedder, texts: Sequence[TextInContext]
) -> list[EmbeddedText]:
    """The search properties of each text. All texts are encoded in one call, equal ones once."""
    lexicon = await embedder.lexicon()
    to_encode = [texts_to_encode(text) for text in texts]
    distinct = list(dict.fromkeys(part for parts in to_encode for part in parts))
    vectors = dict(zip(distinct, await embedder.embed(distinct), strict=True))
    token_counts = await embedder.count_tokens([text.kept_as or text.text for text in texts])
    known_shares = await embedder.known_shares([text.text for text in texts])
    embedded = []
    for text, parts, tokens, share in zip(
        texts, to_encode, token_counts, known_shares, strict=True
    ):
        whole_text, *others = (vectors[part] for part in parts)
        memory_vectors = MemoryVectors(
            whole_text,
            in_context=others.pop(0) if text.before else None,
            sentences=tuple(others),
            words=word_positions(lexicon, text.text),
            answered_words=word_positions(lexicon, questions_in(text.answers or "")),
            terms=term_hashes(text.text),
        )
        embedded.append(EmbeddedText(whole_text, memory_vectors.pack(), tokens, share))
    return embedded


def texts_to_encode(text: TextInContext) -> list[str]:
    """The text, the text after what was said before it, what it applies to, and its sentences."""
    in_context = [f"{text.before} {text.text}"] if text.before else []
    topic = [text.applies_to] if text.applies_to else []
    if not text.by_sentence:
        return [text.text, *in_context, *topic]
    long_sentences = [
        sentence for sentence in sentences(text.text) if len(sentence.split()) >= MIN_SENTENCE_WORDS
    ]
    parts = long_sentences[:MAX_SENTENCES] if len(long_sentences) > 1 else []
    return [text.text, *in_context, *topic, *parts]


def word_positions(lexicon: Lexicon, text: str) -> tuple[int, ...]:
    """The lexicon positions of a text's words, function words left out, in their order."""
    words = dict.fromkeys(WORD.findall(straighten_quotes(text).lower()))
    positions = [lexicon.positions.get(word) for word in words if word not in FUNCTION_WORDS]
    return tuple(position for position in positions if position is not None)[:MAX_WORDS]


def questions_in(text: str) -> str:
    """The questions of a text."""
    return " ".join(sentence for sentence in sentences(text) if sentence.rstrip().endswith("?"))


@dataclass(frozen=True, slots=True)
class MemoryVectors:
    """All vectors and words of one memory. Packed, a number takes one byte; no ranking changed."""

    whole_text: Vector
    in_context: Vector | None = None  # of the text together with what was said before it
    sentences: tuple[Vector, ...] = ()
    words: tuple[int, ...] = ()  # lexicon positions
    answered_words: tuple[int, ...] = ()  # of the question the text answers
    terms: TermHashes = NO_TERMS

    def pack(self) -> bytes:
        """Five counts of two bytes, then words, answered words, terms, their counts, vectors.

        A word takes two bytes, a term four and its count one. The vectors are of the whole text, of
        the text in context if there is one, and of the sentences.
        """
        in_context = [] if self.in_context is None else [self.in_context]
        vectors = [self.whole_text, *in_context, *self.sentences]
        hashes, term_counts = self.terms
        lists = (self.sentences, in_context, self.words, self.answered_words, hashes)
        return b"".join(
            (
                np.array([len(entries) for entries in lists], COUNT).tobytes(),
                np.array([*self.words, *self.answered_words], "<u2").tobytes(),
                hashes.astype("<u4").tobytes(),
                term_counts.astype(np.uint8).tobytes(),
                *map(quantized, vectors),
            )
        )


def quantized(vector: Vector) -> bytes:
    """The vector in one signed byte a number. Its length is lost, its direction is kept."""
    top = float(np.abs(vector).max()) or 1.0
    return np.round(vector * (127 / top)).astype(np.int8).tobytes()


@dataclass(frozen=True, slots=True)
class RaggedArray:
    """Lists of different lengths, stored one after another."""

    values: npt.NDArray[Any]
    counts: npt.NDArray[np.intp]  # length of each list


@dataclass(frozen=True, slots=True)
class VectorMatrix:
    """The vectors and words of many memories, to be compared with one question at once."""

    vectors: npt.NDArray[np.int8]  # of all memories, one after another
    counts: npt.NDArray[np.intp]  # vectors of each memory
    has_context: npt.NDArray[np.bool_]  # whether a memory's second vector is the one in context
    words: RaggedArray
    answered_words: RaggedArray
    terms: RaggedArray  # hashes, sorted in each memory
    term_counts: npt.NDArray[np.uint8]  # how often a memory has each of the values of `terms`

    @classmethod
    def unpack(cls, packed: Sequence[bytes], dimensions: int) -> "VectorMatrix":
        """The matrix of what `MemoryVectors.pack` made of each memory."""
        headers = np.frombuffer(b"".join([item[:HEADER_BYTES] for item in packed]), COUNT)
        counts = headers.reshape(-1, HEADER_BYTES // COUNT.itemsize).astype(np.intp)
        sentence_counts, has_context, word_counts, answered_counts, term_counts = counts.T
        # Of each memory, where its words, answered words, terms, counts of terms and vectors begin.
        sizes = np.stack((2 * word_counts, 2 * answered_counts, 4 * term_counts, term_counts))
        places = (HEADER_BYTES + np.vstack((np.zeros_like(word_counts), sizes)).cumsum(0)).tolist()
        words, answered_words, terms, counts_of_terms = (
            b"".join(
                [item[start:end] for item, start, end in zip(packed, starts, ends, strict=True)]
            )
            for starts, ends in pairwise(places)
        )
        vectors = b"".join([item[start:] for item, start in zip(packed, places[-1], strict=True)])
        return cls(
            np.frombuffer(vectors, np.int8).reshape(-1, dimensions),
            1 + has_context + sentence_counts,
            has_context.astype(bool),
            RaggedArray(np.frombuffer(words, "<u2"), word_counts),
            RaggedArray(np.frombuffer(answered_words, "<u2"), answered_counts),
            RaggedArray(np.frombuffer(terms, "<u4"), term_counts),
            np.frombuffer(counts_of_terms, np.uint8),
        )

    @property
    def count(self) -> int:
        """The number of memories."""
        return len(self.counts)


def search_scope(tenant_id: str, persona_id: str) -> str:
    """The full-text token of a tenant and persona; one word that no analyzer splits."""
    return f"x{id_from(tenant_id, persona_id)}x"
