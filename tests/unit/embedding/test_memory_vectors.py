from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.embedding.embedder import Embedder
from engine.embedding.encoders import Encoder
from engine.embedding.lexicon import Lexicon
from engine.embedding.memory_vectors import (
    MemoryVectors,
    TextInContext,
    VectorMatrix,
    embed_in_context,
    questions_in,
    search_scope,
    word_positions,
)
from engine.embedding.vectors import Vector, normalized
from engine.text import term_hashes

SIZE = 16


def vector(seed: int) -> Vector:
    return normalized(np.random.default_rng(seed).normal(size=SIZE))


positions = st.lists(st.integers(0, 65_534), max_size=20).map(tuple)
terms = st.dictionaries(st.integers(0, 2**32 - 1), st.integers(1, 255), max_size=300).map(
    lambda counts: (
        np.array(sorted(counts), np.uint32),
        np.array([counts[key] for key in sorted(counts)], np.uint8),
    )
)
memory_vectors = st.builds(
    MemoryVectors,
    whole_text=st.integers(0, 99).map(vector),
    in_context=st.none() | st.integers(0, 99).map(vector),
    sentences=st.lists(st.integers(0, 99).map(vector), max_size=4).map(tuple),
    words=positions,
    answered_words=positions,
    terms=terms,
)


@given(st.lists(memory_vectors, min_size=1, max_size=8))
def test_what_was_packed_is_unpacked(many: list[MemoryVectors]) -> None:
    matrix = VectorMatrix.unpack([memory.pack() for memory in many], SIZE)

    assert matrix.has_context.tolist() == [memory.in_context is not None for memory in many]
    starts = np.cumsum(matrix.counts) - matrix.counts
    for start, count, memory in zip(starts, matrix.counts, many, strict=True):
        in_context = [] if memory.in_context is None else [memory.in_context]
        expected = [memory.whole_text, *in_context, *memory.sentences]
        stored = matrix.vectors[start : start + count].astype(float)
        assert len(stored) == len(expected)
        for one, other in zip(stored, expected, strict=True):
            assert normalized(one) @ other > 0.99
    for unpacked, lists in (
        (matrix.words, [memory.words for memory in many]),
        (matrix.answered_words, [memory.answered_words for memory in many]),
    ):
        assert unpacked.values.tolist() == [position for words in lists for position in words]
        assert unpacked.counts.tolist() == [len(words) for words in lists]
    hashes = [value for memory in many for value in memory.terms[0].tolist()]
    assert matrix.terms.values.tolist() == hashes
    assert matrix.terms.counts.tolist() == [len(memory.terms[0]) for memory in many]
    counts = [value for memory in many for value in memory.terms[1].tolist()]
    assert matrix.term_counts.tolist() == counts


def test_four_hundred_words_are_packed() -> None:
    packed = MemoryVectors(vector(1), words=tuple(range(400))).pack()

    assert VectorMatrix.unpack([packed], SIZE).words.values.tolist() == [*range(400)]


def test_the_questions_before_it_are_what_it_answers() -> None:
    assert questions_in("I was away. What is your cat called? How old is she?") == (
        "What is your cat called? How old is she?"
    )


def test_common_words_and_unknown_ones_are_no_words() -> None:
    lexicon = Lexicon.of(["cat", "the", "luna"], np.zeros((3, SIZE), np.float32))

    assert word_positions(lexicon, "The cat, the CAT! Zbigniew's Luna?") == (0, 2)


async def test_each_sentence_and_what_was_said_before_have_vectors_of_their_own() -> None:
    encoded: list[str] = []

    class RecordingEncoder(Encoder):
        def vocabulary(self) -> list[str]:
            return ["cat", "old"]

        def encode(self, texts: Sequence[str]) -> list[Vector]:
            encoded.extend(texts)
            return [vector(len(text)) for text in texts]

    embedder = Embedder(RecordingEncoder, model="m", dimensions=SIZE, cache=0)
    said = "She is called Luna now. She came to us in May. Yes!"

    before = "What is your cat called?"
    embedded = await embed_in_context(embedder, [TextInContext(said, before, before)])

    assert encoded == [
        "cat",
        "old",
        said,
        f"What is your cat called? {said}",
        "She is called Luna now.",
        "She came to us in May.",
    ]
    assert np.allclose(embedded[0].embedding, vector(len(said)))
    header = np.frombuffer(embedded[0].packed_vectors[:10], "<u2").tolist()
    assert header == [2, 1, 0, 1, len(term_hashes(said)[0])]


async def test_equal_texts_are_encoded_once_and_some_without_their_sentences() -> None:
    encoded: list[str] = []

    class RecordingEncoder(Encoder):
        def encode(self, texts: Sequence[str]) -> list[Vector]:
            encoded.extend(texts)
            return [vector(len(text)) for text in texts]

    embedder = Embedder(RecordingEncoder, model="m", dimensions=SIZE, cache=0)
    said = "She is called Luna now. She came to us in May."
    texts = [TextInContext(said), TextInContext(said, by_sentence=False), TextInContext(said)]

    first, second, third = await embed_in_context(embedder, texts)

    assert encoded == [said, "She is called Luna now.", "She came to us in May."]
    assert first == third
    assert len(first.packed_vectors) - len(second.packed_vectors) == 2 * SIZE


def test_no_two_personas_share_a_search_scope() -> None:
    scopes = {search_scope(*ids) for ids in (("a", "b"), ("ab", ""), ("", "ab"), ("b", "a"))}

    assert len(scopes) == 4
    assert all(scope.isalnum() for scope in scopes)
