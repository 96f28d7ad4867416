from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.embedding.embedder import Embedder, Encoder, Lexicon, Vector, normalized
from engine.embedding.memory_vectors import (
    MemoryVectors,
    TextInContext,
    VectorMatrix,
    asked_in,
    embed_in_context,
    search_scope,
    words_in,
)

SIZE = 16


def vector(seed: int) -> Vector:
    return normalized(np.random.default_rng(seed).normal(size=SIZE))


places = st.lists(st.integers(0, 65_534), max_size=20).map(tuple)
packed_vectors = st.builds(
    MemoryVectors,
    own=st.integers(0, 99).map(vector),
    beside=st.none() | st.integers(0, 99).map(vector),
    parts=st.lists(st.integers(0, 99).map(vector), max_size=4).map(tuple),
    words=places,
    heard=places,
)


@given(st.lists(packed_vectors, min_size=1, max_size=8), st.integers(0, 99).map(vector))
def test_what_was_packed_is_as_near_as_it_was(many: list[MemoryVectors], question: Vector) -> None:
    faces = VectorMatrix.unpack([it.pack() for it in many], SIZE)
    alone, beside = faces.nearest(question)

    for place, it in enumerate(many):
        near = max(float(side @ question) for side in (it.own, *it.parts))
        together = float((it.own if it.beside is None else it.beside) @ question)
        assert abs(alone[place] - near) < 0.02
        assert abs(beside[place] - together) < 0.02
    for told, kept in (
        (faces.words, [it.words for it in many]),
        (faces.heard, [it.heard for it in many]),
    ):
        assert told.values.tolist() == [place for places in kept for place in places]
        assert told.counts.tolist() == [len(places) for places in kept]


def test_the_questions_before_it_are_what_it_answers() -> None:
    assert asked_in("I was away. What is your cat called? How old is she?") == (
        "What is your cat called? How old is she?"
    )


def test_common_words_and_unknown_ones_are_no_words() -> None:
    lexicon = Lexicon.of(["cat", "the", "luna"], np.zeros((3, SIZE), np.float32))

    assert words_in(lexicon, "The cat, the CAT! Zbigniew's Luna?") == (0, 2)


async def test_each_sentence_and_what_was_said_before_have_vectors_of_their_own() -> None:
    asked: list[str] = []

    class Listener(Encoder):
        def vocabulary(self) -> list[str]:
            return ["cat", "old"]

        def encode(self, texts: Sequence[str]) -> list[Vector]:
            asked.extend(texts)
            return [vector(len(text)) for text in texts]

    embedder = Embedder(Listener, model="m", dimensions=SIZE, cache=0)
    said = "She is called Luna now. She came to us in May. Yes!"

    embedded = await embed_in_context(embedder, [TextInContext(said, "What is your cat called?")])

    assert asked == [
        "cat",
        "old",
        said,
        f"What is your cat called? {said}",
        "She is called Luna now.",
        "She came to us in May.",
    ]
    assert np.allclose(embedded[0].embedding, vector(len(said)))
    assert embedded[0].packed_vectors[:4] == bytes([2, 1, 0, 1])


def test_no_two_personas_share_a_shelf() -> None:
    told = {search_scope(*it) for it in (("a", "b"), ("ab", ""), ("", "ab"), ("b", "a"))}

    assert len(told) == 4
    assert all(it.isalnum() for it in told)
