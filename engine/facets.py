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

from engine.embedding import WORD, Embedder, Lexicon, Vector
from engine.extraction.prose import sentences, straighten, word_set
from engine.models import id_from

PARTS = 12  # sentences of one text that are told apart
LEAST_WORDS = 4  # of a sentence that says something alone
MOST_WORDS = 255

# What is in every text and tells none apart.
COMMON = word_set(
    "the and but for into not such that their then there these they this was will with you your "
    "yours she her hers his him its our ours are were been being have has had did does doing just "
    "about from can could would should what when where who which how why whom whose than too very "
    "also any all some out off over under again only own same here because while until"
)


@dataclass(frozen=True, slots=True)
class Saying:
    """Something to be remembered, and what was said just before it by somebody else."""

    text: str
    before: str | None = None
    kept_as: str | None = None  # what it will be told as, if in other words


@dataclass(frozen=True, slots=True)
class Embedded:
    """What a search needs of a text, and how long it is."""

    embedding: Vector
    facets: bytes
    token_estimate: int

    @property
    def whole(self) -> dict[str, Any]:
        return {"embedding": self.embedding, **self.beside}

    @property
    def beside(self) -> dict[str, Any]:
        """What is kept beside the vector, which goes a way of its own."""
        return {"facets": self.facets, "token_estimate": self.token_estimate}


async def embed_sayings(embedder: Embedder, sayings: Sequence[Saying]) -> list[Embedded]:
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
    found = []
    for saying, tokens, (at, beside_count, part_count) in zip(sayings, counts, spans, strict=True):
        faces = Facets(
            own=vectors[at],
            beside=vectors[at + 1] if beside_count else None,
            parts=tuple(vectors[at + 1 + beside_count : at + 1 + beside_count + part_count]),
            words=words_in(lexicon, saying.text),
            heard=words_in(lexicon, asked_in(saying.before or "")),
        )
        found.append(Embedded(vectors[at], faces.pack(), tokens))
    return found


def words_in(lexicon: Lexicon, text: str) -> tuple[int, ...]:
    """The places of the words that tell this text apart, in their order."""
    told = WORD.findall(straighten(text).lower())
    places = [lexicon.places.get(word) for word in dict.fromkeys(told) if word not in COMMON]
    return tuple(place for place in places if place is not None)[:MOST_WORDS]


def asked_in(text: str) -> str:
    """The questions of a text."""
    return " ".join(it for it in sentences(text) if it.rstrip().endswith("?"))


@dataclass(frozen=True, slots=True)
class Facets:
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
class Faces:
    """The facets of many memories, side by side, to be held against one question."""

    vectors: npt.NDArray[np.float32]  # all of them, one after another, each of length one
    owner: npt.NDArray[np.intp]  # whose each vector is
    beside: npt.NDArray[np.bool_]  # whether it is that of a text with what was said before
    words: npt.NDArray[np.intp]
    word_owner: npt.NDArray[np.intp]
    heard: npt.NDArray[np.intp]
    heard_owner: npt.NDArray[np.intp]
    count: int

    @classmethod
    def unpack(cls, packed: Sequence[bytes], dimensions: int) -> "Faces":
        chunks, owner, beside = [], list[int](), list[bool]()
        words, word_owner = list[bytes](), list[int]()
        heard, heard_owner = list[bytes](), list[int]()
        for place, it in enumerate(packed):
            parts, has_beside, word_count, heard_count = it[:4]
            middle, start = 4 + 2 * word_count, 4 + 2 * (word_count + heard_count)
            words.append(it[4:middle])
            heard.append(it[middle:start])
            chunks.append(it[start:])
            owner += [place] * (1 + has_beside + parts)
            beside += [False, *([True] if has_beside else []), *([False] * parts)]
            word_owner += [place] * word_count
            heard_owner += [place] * heard_count
        vectors = (
            np.frombuffer(b"".join(chunks), np.int8).reshape(-1, dimensions).astype(np.float32)
        )
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
        return cls(
            vectors,
            np.array(owner, np.intp),
            np.array(beside, bool),
            np.frombuffer(b"".join(words), "<u2").astype(np.intp),
            np.array(word_owner, np.intp),
            np.frombuffer(b"".join(heard), "<u2").astype(np.intp),
            np.array(heard_owner, np.intp),
            len(packed),
        )

    def nearest(self, question: Vector) -> tuple[Vector, Vector]:
        """How near the nearest sentence of each is to the question, and how near it is beside
        what was said before it."""
        cosines = self.vectors @ question
        together = cosines[np.searchsorted(self.owner, np.arange(self.count))]
        together[self.owner[self.beside]] = cosines[self.beside]
        alone = np.full(self.count, -1.0, np.float32)
        np.maximum.at(alone, self.owner[~self.beside], cosines[~self.beside])
        return alone, together


def shelf(tenant_id: str, persona_id: str) -> str:
    """A tenant and a persona as one word that no analyzer takes apart."""
    return f"x{id_from(tenant_id, persona_id)}x"
