"""What a search looks at more closely than an index can: the sides of what was said.

A memory's one vector is the mean of all it says. Beside it are kept the vector of each sentence,
that of it together with what was said just before, and the words in it and in the question it
answers. All of it is packed into one property, small enough to be fetched for every find.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.embedding.embedder import WORD, Embedder, Lexicon, Vector
from engine.ids import id_from
from engine.text import FUNCTION_WORDS, sentences, straighten_quotes

PARTS = 12  # sentences of one text that are told apart
LEAST_WORDS = 4  # of a sentence that says something alone
MOST_WORDS = 255


@dataclass(frozen=True, slots=True)
class TextInContext:
    """Something to be remembered, and what was said just before it by somebody else."""

    text: str
    before: str | None = None
    kept_as: str | None = None  # what it will be told as, if in other words


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """What a search needs of a text, and how long it is."""

    embedding: Vector
    packed_vectors: bytes
    token_estimate: int
    known_share: float  # how much of it the encoder was taught to read

    @property
    def whole(self) -> dict[str, Any]:
        return {"embedding": self.embedding, **self.beside}

    @property
    def beside(self) -> dict[str, Any]:
        """What is kept beside the vector, which goes a way of its own."""
        return {
            "packed_vectors": self.packed_vectors,
            "token_estimate": self.token_estimate,
            "known_share": self.known_share,
        }


async def embed_in_context(
    embedder: Embedder, sayings: Sequence[TextInContext]
) -> list[EmbeddedText]:
    """What a search needs of each."""
    lexicon = await embedder.lexicon()
    texts: list[str] = []
    spans = []
    for saying in sayings:
        parts = [it for it in sentences(saying.text) if len(it.split()) >= LEAST_WORDS][:PARTS]
        parts = parts if len(parts) > 1 else []
        beside = [f"{saying.before} {saying.text}"] if saying.before else []
        spans.append((len(texts), len(beside), len(parts)))
        texts += [saying.text, *beside, *parts]
    vectors = await embedder.embed(texts)
    counts = await embedder.count([saying.kept_as or saying.text for saying in sayings])
    shares = await embedder.known([saying.text for saying in sayings])
    found = []
    for saying, tokens, share, (at, beside_count, part_count) in zip(
        sayings, counts, shares, spans, strict=True
    ):
        faces = MemoryVectors(
            own=vectors[at],
            beside=vectors[at + 1] if beside_count else None,
            parts=tuple(vectors[at + 1 + beside_count : at + 1 + beside_count + part_count]),
            words=words_in(lexicon, saying.text),
            heard=words_in(lexicon, asked_in(saying.before or "")),
        )
        found.append(EmbeddedText(vectors[at], faces.pack(), tokens, share))
    return found


def words_in(lexicon: Lexicon, text: str) -> tuple[int, ...]:
    """The places of the words that tell this text apart, in their order."""
    told = WORD.findall(straighten_quotes(text).lower())
    places = [
        lexicon.places.get(word) for word in dict.fromkeys(told) if word not in FUNCTION_WORDS
    ]
    return tuple(place for place in places if place is not None)[:MOST_WORDS]


def asked_in(text: str) -> str:
    """The questions of a text."""
    return " ".join(it for it in sentences(text) if it.rstrip().endswith("?"))


@dataclass(frozen=True, slots=True)
class MemoryVectors:
    """The sides of one memory. Vectors are kept in one byte a number, which moves no ranking."""

    own: Vector
    beside: Vector | None = None
    parts: tuple[Vector, ...] = ()
    words: tuple[int, ...] = ()
    heard: tuple[int, ...] = ()

    def pack(self) -> bytes:
        vectors = [self.own, *([] if self.beside is None else [self.beside]), *self.parts]
        head = bytes((len(self.parts), self.beside is not None, len(self.words), len(self.heard)))
        words = np.array([*self.words, *self.heard], "<u2").tobytes()
        return head + words + b"".join(map(as_bytes, vectors))


def as_bytes(vector: Vector) -> bytes:
    top = float(np.abs(vector).max()) or 1.0
    return np.round(vector * (127 / top)).astype(np.int8).tobytes()


@dataclass(frozen=True, slots=True)
class RaggedArray:
    """Lists of different lengths, one after another."""

    values: npt.NDArray[Any]
    counts: npt.NDArray[np.intp]

    def most(self, of: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """The most in each list, of what lines of figures say of each value; nothing of none."""
        most = np.zeros((len(of), len(self.counts)))
        some = np.flatnonzero(self.counts)
        if some.size:
            starts = (np.cumsum(self.counts) - self.counts)[some]
            most[:, some] = np.maximum.reduceat(of, starts, axis=1)
        return most


@dataclass(frozen=True, slots=True)
class VectorMatrix:
    """The vectors of many memories, side by side, to be held against one question."""

    vectors: npt.NDArray[np.float32]  # all of them, one after another
    counts: npt.NDArray[np.intp]  # how many of them are whose
    has_beside: npt.NDArray[np.bool_]  # then the second is that of it with what was said before
    words: RaggedArray
    heard: RaggedArray

    @classmethod
    def unpack(cls, packed: Sequence[bytes], dimensions: int) -> "VectorMatrix":
        heads = np.frombuffer(b"".join([it[:4] for it in packed]), np.uint8).reshape(-1, 4)
        parts, has_beside, words, heard = heads.astype(np.intp).T
        middles, starts = (4 + 2 * words).tolist(), (4 + 2 * (words + heard)).tolist()
        told = b"".join([it[4:end] for it, end in zip(packed, middles, strict=True)])
        asked = b"".join(
            [it[start:end] for it, start, end in zip(packed, middles, starts, strict=True)]
        )
        vectors = b"".join([it[start:] for it, start in zip(packed, starts, strict=True)])
        return cls(
            np.frombuffer(vectors, np.int8).reshape(-1, dimensions).astype(np.float32),
            1 + has_beside + parts,
            has_beside.astype(bool),
            RaggedArray(np.frombuffer(told, "<u2"), words),
            RaggedArray(np.frombuffer(asked, "<u2"), heard),
        )

    @property
    def count(self) -> int:
        return len(self.counts)

    def nearest(self, question: Vector) -> tuple[Vector, Vector]:
        """How near the nearest sentence of each is to the question, and how near it is beside
        what was said before it."""
        lengths = np.sqrt(np.einsum("ij,ij->i", self.vectors, self.vectors))
        cosines = self.vectors @ question / np.maximum(lengths, 1e-6)
        first = np.cumsum(self.counts) - self.counts
        second = first[self.has_beside] + 1
        together = cosines[first]
        together[self.has_beside] = cosines[second]
        cosines[second] = -1.0
        return np.maximum.reduceat(cosines, first), together


def search_scope(tenant_id: str, persona_id: str) -> str:
    """A tenant and a persona as one word that no analyzer takes apart."""
    return f"x{id_from(tenant_id, persona_id)}x"
