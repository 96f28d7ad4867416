"""Ranking: the signals of each hit, their weighted sum, and the scores that spread along links."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.embedding import Lexicon, Vector, VectorMatrix
from engine.models import MemoryType
from engine.recall.fulltext import letter_groups, rarest_words
from engine.recall.questions import Question, time_fit

FloatArray = npt.NDArray[np.floating[Any]]
Signals = dict[str, FloatArray]  # by signal: one number for each hit
# Rows of a statement as columns: a list for each property, all in the same order.
HitColumns = Mapping[str, Sequence[Any]]
LinkColumns = Mapping[str, Sequence[Any]]

SPREADING_HITS = 10  # best hits whose lead over the next one spreads along links
FULL_LENGTH = math.log(400)  # characters from which a longer text scores no higher
FULL_ACCESS = math.log(100)  # uses from which more of them score no higher
MAX_SPELLED_CHARACTERS = 2000  # of a text that are compared by spelling
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
DAY = 86_400e6  # microseconds
MAX_SPREAD = 1.0  # share of a lead that passes along one link, at most


@dataclass(frozen=True, slots=True)
class RankingProfile:
    """The weights of the signals. Signals are 0 to 1; cosines can be negative."""

    weights: Mapping[str, float]
    # By link type: the share of a hit's lead that spreads along a link of strength 1.
    spread: Mapping[str, float] = field(default_factory=dict)
    embeds_names: bool = False  # whether people's names are part of the embedded question


PROFILES = {
    # The profile that measures best. Its weights are round numbers; none was fitted.
    "woven": RankingProfile(
        weights={
            "meaning": 0.8,
            "in_context": 0.5,
            "words": 0.4,
            "answered_question": 0.3,
            "full_text": 0.2,
            "who": 0.5,
            "when": 0.3,
            "length": 0.2,
            "question": -0.1,
            "importance": 0.05,
            "recency": 0.01,
            "pinned": 0.05,
            "access": 0.02,
        },
        spread={"PRECEDES": 1.6, "RELATED": 0.6, "others": 0.6},
    ),
    # The blend of the published specification: 0.2 full text, 0.8 similarity, and boosts.
    "published": RankingProfile(
        weights={
            "vector": 0.8,
            "full_text": 0.2,
            "importance": 0.05,
            "recency": 0.05,
            "pinned": 0.1,
            "access": 0.05,
        },
        embeds_names=True,
    ),
}


@dataclass(frozen=True, slots=True)
class RankedHit:
    """One hit of a search with its score."""

    hits: "ScoredHits"
    index: int  # in the columns of all hits
    score: float  # with what spread to it

    def column(self, name: str) -> Any:
        """The value of a stored property."""
        return self.hits.columns[name][self.index]

    @property
    def id(self) -> str:
        return str(self.column("id"))

    @property
    def signals(self) -> dict[str, float]:
        return {name: float(values[self.index]) for name, values in self.hits.signals.items()}

    @property
    def confidence(self) -> float:
        """The similarity to the question, 0 to 1, without any other signal."""
        return max(0.0, min(1.0, float(self.hits.signals["meaning"][self.index])))

    @property
    def spread(self) -> float:
        """The part of the score that spread from other hits."""
        return float(self.hits.spread[self.index])


@dataclass(slots=True)
class ScoredHits:
    """All hits of a search: a list for each property, an array for each signal."""

    columns: HitColumns
    signals: Signals
    scores: FloatArray  # weighted sums of the signals
    spread: FloatArray = field(init=False)  # added by links

    def __post_init__(self) -> None:
        self.spread = np.zeros(len(self.scores))

    @property
    def totals(self) -> FloatArray:
        """The final scores. Minimized memories count less."""
        return (self.scores + self.spread) * self.columns["weight_modifier"]

    def ranked(self, *, facts_apart: bool = False) -> list[RankedHit]:
        """The best hit of each turn, best first, then all other hits in the same order.

        With `facts_apart`, only the best fact of each turn and the best of its other hits.
        """
        totals = self.totals
        best, others = self.best_of_turns(totals, facts_apart=facts_apart)
        indices = best if facts_apart else best + others
        return [RankedHit(self, index, float(totals[index])) for index in indices]

    def best_of_turns(
        self, scores: FloatArray, *, facts_apart: bool = False
    ) -> tuple[list[int], list[int]]:
        """The indices of the best hit of each turn, and those of all others, each best first.

        A turn is the message a hit was drawn from. Equal scores are ordered by id.
        """
        ids, types, sources = (self.columns[name] for name in ("id", "memory_type", "source_id"))
        seen = set[tuple[Any, ...]]()
        best, others = list[int](), list[int]()
        for _, id_, index in sorted(zip((-scores).tolist(), ids, range(len(ids)), strict=True)):
            is_fact = facts_apart and types[index] == MemoryType.SEMANTIC
            turn = (sources[index], is_fact) if sources[index] else (id_,)
            (others if turn in seen else best).append(index)
            seen.add(turn)
        return best, others

    def leads(self) -> dict[str, float]:
        """By id of the best hits: how far each is ahead of the first that is not among them."""
        scores = self.totals  # nothing has spread yet
        best, _ = self.best_of_turns(scores)
        if not best:
            return {}
        baseline = scores[best[: SPREADING_HITS + 1][-1]]
        ids = self.columns["id"]
        return {
            ids[index]: float(scores[index] - baseline)
            for index in best[:SPREADING_HITS]
            if scores[index] > baseline
        }

    def spread_along(self, links: LinkColumns, profile: RankingProfile) -> None:
        """Raise the hits that the best ones are linked to, by the strength of the links.

        A hit that several links lead to gets the largest of their amounts, not the sum.
        """
        leads = self.leads()
        index_by_id = {id_: index for index, id_ in enumerate(self.columns["id"])}
        default_rate = profile.spread.get("others", 0.0)
        for source_id, id_, link_type, *strengths in zip(
            *(links[name] for name in ("source_id", "id", "type", "strength", "further")),
            strict=True,
        ):
            amount, index = leads.get(source_id), index_by_id.get(id_)
            if amount is None or index is None:
                continue
            rate = profile.spread.get(link_type, default_rate)
            for strength in strengths:  # of the first link, and of the second on a path of two
                amount *= 1.0 if strength is None else min(MAX_SPREAD, rate * strength)
            self.spread[index] = max(self.spread[index], amount)


def score_hits(
    columns: HitColumns,
    question: Question,
    vector: Vector,
    lexicon: Lexicon,
    profile: RankingProfile,
    now: datetime,
    *,
    by_spelling: bool = False,
) -> ScoredHits:
    """The hits with every signal and their weighted sum.

    With `by_spelling`, for a question the model has no words for, similarity in spelling replaces
    similarity in meaning.
    """
    matrix = VectorMatrix.unpack(columns["packed_vectors"], len(vector))
    best, in_context = matrix.similarities(vector)
    similarity = np.array(columns["similarity"], float)
    if by_spelling:
        best = in_context = similarity = spelling_similarity(question.text, columns["text"])
    words, answered_question = word_signals(matrix, question, lexicon)
    full_text = np.array(columns["matched"], float)
    signals: Signals = {
        "meaning": best,
        "in_context": in_context,
        "vector": similarity,
        "words": words,
        "answered_question": answered_question,
        "full_text": full_text / max(full_text.max(initial=0.0), 1e-9),
        **metadata_signals(columns, question, now),
    }
    scores = np.zeros(matrix.count)
    for name, weight in profile.weights.items():
        scores += weight * signals[name]
    return ScoredHits(columns, signals, scores)


def moment(microseconds: int) -> datetime:
    """The time that a statement returns as microseconds since 1970."""
    return EPOCH + microseconds * MICROSECOND


def metadata_signals(columns: HitColumns, question: Question, now: datetime) -> Signals:
    """The signals that depend neither on vectors nor on words."""
    people = question.people if len(question.people) == 1 else ()
    said_at, texts = columns["said_at"], columns["text"]
    age_in_days = ((now - EPOCH) / MICROSECOND - np.array(said_at, float)) / DAY
    periods = question.periods
    when = (
        [max(time_fit(period, moment(said)) for period in periods) for said in said_at]
        if periods
        else 0.0
    )
    return {
        "who": np.array([person in people for person in columns["about"]], float),
        "when": np.zeros(len(said_at)) + when,
        "length": np.minimum(1.0, np.log1p([len(text) for text in texts]) / FULL_LENGTH),
        "question": np.array([text.rstrip().endswith("?") for text in texts], float),
        "importance": np.array(columns["importance"], float) / 5 - 1,
        "recency": np.exp(-np.maximum(age_in_days, 0.0) / 30),
        "pinned": np.array(columns["pinned"], float),
        "access": np.minimum(1.0, np.log1p(columns["access_count"]) / FULL_ACCESS),
    }


def spelling_similarity(question: str, texts: Sequence[str]) -> FloatArray:
    """The share of the question's letter groups that the beginning of each text contains."""
    groups = letter_groups(question)
    if not groups:
        return np.zeros(len(texts))
    beginnings = [text[:MAX_SPELLED_CHARACTERS].lower() for text in texts]
    return np.array([sum(group in text for group in groups) / len(groups) for text in beginnings])


def word_signals(
    matrix: VectorMatrix, question: Question, lexicon: Lexicon
) -> tuple[FloatArray, FloatArray]:
    """How much of the question's words each memory has, and the question each one answers has.

    Similar words count by the square of their cosine. A word that few memories have counts more.
    """
    known = (word for word in question.words if word in lexicon.positions)
    asked = rarest_words(known, lexicon.positions)
    in_text, in_answered = (
        words.maxima(lexicon.similarities(asked, words.values) ** 2)
        for words in (matrix.words, matrix.answered_words)
    )
    memory_counts = in_text.sum(axis=1)
    rarity = np.log(1 + (matrix.count - memory_counts + 0.5) / (memory_counts + 0.5))
    weights = rarity / max(rarity.sum(), 1e-9)
    return weights @ in_text, weights @ in_answered
