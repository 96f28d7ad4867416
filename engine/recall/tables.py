"""Items in columns: what ranking compares with a question, for some hits or for a whole persona.

Nothing here depends on which other items a table holds, so an item scores the same in a small table
of search results and in a large one that is kept in memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import simsimd

from engine.embedding import Vector, VectorMatrix, quantized
from engine.models import MemoryType, Row

FloatArray = npt.NDArray[np.floating[Any]]
BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.intp]

STATES = {"active": 0, "pending": 1, "suppressed": 2, "archived": 3}
OTHER_STATE = 4  # of an item that no recall returns, such as a removed candidate
TYPES = {memory_type.value: number for number, memory_type in enumerate(MemoryType)}
STANDING = ("instruction", "preference")  # categories of what bears on whatever is asked
FULL_ACCESS = 100  # uses from which more of them score no higher
FULL_LENGTH = 120  # tokens from which more of them score no higher: those of a passage, about
NEVER = np.inf  # the end of what still holds
# Properties that change after an item was written, as statements return them.
STATE_COLUMNS = (
    "memory_type",
    "state",
    "flagged",
    "about",
    "category",
    "fact",
    "tags",
    "project",
    "valid_from",
    "valid_to",
    "importance",
    "pinned",
    "access_count",
    "weight_modifier",
)
# Properties that stay as they were written, unless a candidate is edited.
CONTENT_COLUMNS = (
    "text",
    "conversation_id",
    "source_id",
    "said_at",
    "token_estimate",
    "passage",
    "shape_memories",
    "packed_vectors",
)
NUMBERS = ("importance", "pinned", "weight_modifier", "flagged", "said_at")
BYTES_PER_ITEM = 1200  # of Python objects: ids, columns, dictionary entries; measured
Columns = Mapping[str, Sequence[Any]]  # a list for each property, all in the same order


@dataclass(frozen=True, slots=True)
class QuantizedQuestion:
    """The vector of a question in one signed byte a number."""

    values: npt.NDArray[np.int8]
    inverse_length: float

    @classmethod
    def of(cls, vector: Vector) -> "QuantizedQuestion":
        values = np.frombuffer(quantized(vector), np.int8)
        length = float(np.linalg.norm(values.astype(np.float64)))
        return cls(values, 1 / max(length, 1e-6))


@dataclass(frozen=True, slots=True)
class InvertedIndex:
    """Which rows have a value, for lists of values of many rows."""

    values: npt.NDArray[Any]  # sorted
    rows: IndexArray  # of each value
    counts: npt.NDArray[Any]  # how often the row has it

    @classmethod
    def of(
        cls,
        values: npt.NDArray[Any],
        list_lengths: npt.NDArray[np.intp],
        counts: npt.NDArray[Any] | None = None,
    ) -> "InvertedIndex":
        """The index of lists that stand one after another in `values`."""
        rows = np.repeat(np.arange(len(list_lengths)), list_lengths)
        order = np.argsort(values, kind="stable")
        given = np.ones(len(values), np.uint8) if counts is None else counts
        return cls(values[order], rows[order], given[order])

    def find(self, values: npt.NDArray[Any]) -> tuple[IndexArray, IndexArray]:
        """Where any of these values stands, in their order: its number among them, and the place.

        They must have the type of the index's own values, else all of those would be converted.
        """
        firsts = self.values.searchsorted(values, "left")
        lengths = self.values.searchsorted(values, "right") - firsts
        numbers = np.arange(len(values)).repeat(lengths)
        before = lengths.cumsum() - lengths  # how many places belong to the values before each
        return numbers, np.arange(len(numbers)) + (firsts - before)[numbers]


@dataclass(slots=True)
class ItemTable:
    """Candidates and memories of one persona, a column for each property."""

    ids: list[str]
    columns: dict[str, list[Any]]
    numbers: dict[str, FloatArray]
    names: dict[str | None, int]  # a number for each value of the columns `about` and `fact`
    about: npt.NDArray[np.int32]  # whom each is about, by these numbers
    facts: npt.NDArray[np.int32]  # what each is a fact of, by these numbers
    valid_to: FloatArray  # microseconds since 1970, or NEVER
    states: npt.NDArray[np.int8]
    types: npt.NDArray[np.int8]
    alive: BoolArray  # false for a row that a newer one replaces
    accesses: FloatArray  # how often each was used, as a signal: 1 for FULL_ACCESS and more
    standing: FloatArray  # 1 for an instruction or a preference, 0 for anything else
    lengths: FloatArray  # how much each says, as a signal: 1 for FULL_LENGTH tokens and more
    matrix: npt.NDArray[np.int8]  # vectors of all items, one after another
    inverse_lengths: npt.NDArray[np.float64]  # of each vector
    first_vectors: IndexArray  # position of each item's vector of its whole text
    has_context: BoolArray
    words: InvertedIndex
    answered_words: InvertedIndex
    terms: InvertedIndex
    term_totals: FloatArray  # terms of each item, repeats counted
    row_by_id: dict[str, int] = field(init=False)
    rows_in_context: IndexArray = field(init=False)  # items with a vector in context
    context_vectors: IndexArray = field(init=False)  # position of that vector of each of them

    def __post_init__(self) -> None:
        self.rows_in_context = np.flatnonzero(self.has_context)
        self.context_vectors = self.first_vectors[self.rows_in_context] + 1
        self.row_by_id = {id_: row for row, id_ in enumerate(self.ids)}

    @classmethod
    def of(cls, columns: Columns, dimensions: int) -> "ItemTable":
        """The table of what a search or a load returned, without items that were read in part."""
        columns = whole_items(columns)
        vectors = VectorMatrix.unpack(columns["packed_vectors"], dimensions)
        lengths = lengths_of(vectors.vectors)
        texts = columns["text"]
        distinct = dict.fromkeys([*columns["about"], *columns["fact"]])
        names = {name: number for number, name in enumerate(distinct)}
        rows = np.repeat(np.arange(len(texts)), vectors.terms.counts)
        totals = np.bincount(rows, vectors.term_counts, len(texts)).astype(float)
        return cls(
            ids=list(columns["id"]),
            columns={
                name: list(columns[name])
                for name in (*STATE_COLUMNS, *CONTENT_COLUMNS)
                if name != "packed_vectors"
            },
            numbers={name: np.array(columns[name], float) for name in NUMBERS},
            names=names,
            about=np.array([names[name] for name in columns["about"]], np.int32),
            facts=np.array([names[name] for name in columns["fact"]], np.int32),
            valid_to=np.array([end_of(value) for value in columns["valid_to"]], float),
            states=np.array(
                [STATES.get(state, OTHER_STATE) for state in columns["state"]], np.int8
            ),
            types=np.array([TYPES[name] for name in columns["memory_type"]], np.int8),
            alive=np.ones(len(texts), bool),
            accesses=access_signal(columns["access_count"]),
            standing=np.array([name in STANDING for name in columns["category"]], float),
            lengths=length_signal(columns["token_estimate"]),
            matrix=vectors.vectors,
            inverse_lengths=1 / np.maximum(lengths, 1e-6),
            first_vectors=np.cumsum(vectors.counts) - vectors.counts,
            has_context=vectors.has_context,
            words=InvertedIndex.of(vectors.words.values, vectors.words.counts),
            answered_words=InvertedIndex.of(
                vectors.answered_words.values, vectors.answered_words.counts
            ),
            terms=InvertedIndex.of(vectors.terms.values, vectors.terms.counts, vectors.term_counts),
            term_totals=totals,
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        arrays = (
            self.matrix,
            self.inverse_lengths,
            *(
                array
                for index in (self.words, self.answered_words, self.terms)
                for array in (index.values, index.rows, index.counts)
            ),
        )
        texts = sum(map(len, self.columns["text"]))
        return sum(array.nbytes for array in arrays) + texts + BYTES_PER_ITEM * len(self)

    def similarities(
        self, question: QuantizedQuestion
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Cosines of the question with each item: its best vector, in context, its whole text.

        The best is taken of the whole text and its sentences. An item without a message before it
        counts its whole text as in context.
        """
        if not len(self):
            return np.zeros(0), np.zeros(0), np.zeros(0)
        products = simsimd.cdist(question.values.reshape(1, -1), self.matrix, "dot")
        cosines = np.asarray(products)[0] * self.inverse_lengths
        cosines *= question.inverse_length
        whole_text = cosines[self.first_vectors]
        in_context = whole_text.copy()
        in_context[self.rows_in_context] = cosines[self.context_vectors]
        cosines[self.context_vectors] = -1.0  # never the best
        return np.maximum.reduceat(cosines, self.first_vectors), in_context, whole_text

    def is_named(self, column: npt.NDArray[np.int32], name: str | None) -> BoolArray:
        """Which items have this name in one of the columns of numbers; none for None."""
        named: BoolArray = column == (-1 if name is None else self.names.get(name, -1))
        return named

    def change(self, row: int, state: Row) -> None:
        """Set what may change of an item to what is stored now."""
        for name in STATE_COLUMNS:
            self.columns[name][row] = state[name]
        for name in NUMBERS:
            if name in state:
                self.numbers[name][row] = state[name]
        self.about[row] = self.names.setdefault(state["about"], len(self.names))
        self.facts[row] = self.names.setdefault(state["fact"], len(self.names))
        self.accesses[row] = access_signal(state["access_count"])
        self.standing[row] = state["category"] in STANDING
        self.valid_to[row] = end_of(state["valid_to"])
        self.states[row] = STATES.get(state["state"], OTHER_STATE)
        self.types[row] = TYPES[state["memory_type"]]


def whole_items(columns: Columns) -> Columns:
    """These items without those that have no vectors.

    Neo4j shows parts of a transaction before all of it: of a shape that is just withdrawn, or drawn
    again, a statement may have read the state of one side and no vectors. The change is read again.
    """
    packed = columns["packed_vectors"]
    if None not in packed:
        return columns
    rows = [row for row, vectors in enumerate(packed) if vectors is not None]
    return {name: [values[row] for row in rows] for name, values in columns.items()}


def lengths_of(vectors: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
    """The length of each vector."""
    if not len(vectors):
        return np.zeros(0)
    squares = np.asarray(simsimd.dot(vectors, vectors), np.float64)
    return np.sqrt(squares).reshape(-1)


def access_signal(counts: npt.ArrayLike) -> Any:
    """How often something was used, 0 to 1: the logarithm as a share of that of FULL_ACCESS."""
    return np.minimum(1.0, np.log1p(counts) / np.log(FULL_ACCESS))


def length_signal(tokens: Sequence[int | None]) -> FloatArray:
    """How much texts say, 0 to 1: the logarithm of their tokens as a share of FULL_LENGTH's."""
    counts = np.array([FULL_LENGTH if count is None else count for count in tokens], float)
    lengths: FloatArray = np.minimum(1.0, np.log1p(counts) / np.log1p(FULL_LENGTH))
    return lengths


def end_of(valid_to: int | None) -> float:
    return NEVER if valid_to is None else float(valid_to)
