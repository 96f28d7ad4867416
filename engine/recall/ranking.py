"""Which of the things found answer a question: every signal, how they are weighed, what spreads."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.embedding import Lexicon, Vector, VectorMatrix
from engine.models import MemoryType
from engine.recall.fulltext import spelled_pieces, telling_words
from engine.recall.questions import Question, time_fit

Figures = npt.NDArray[np.floating[Any]]
Signals = dict[str, Figures]
# What a statement tells of many things: a list of each property, in the same order.
Found = Mapping[str, Sequence[Any]]
Links = Mapping[str, Sequence[Any]]

STAND_OUT = 10  # finds that may lend to others what they are ahead of the next
LONG = math.log(400)  # characters, from which more of them say no more
SPELLED = 2000  # characters of a text that are held against the spelling of a question
MANY = math.log(100)  # uses, likewise
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
DAY = 86_400e6  # microseconds
MOST_LENT = 1.0  # of what a find is ahead, to what one link leads to


@dataclass(frozen=True, slots=True)
class RankingProfile:
    """How the signals are weighed. All are between 0 and 1, but for meaning, which can be less."""

    weights: Mapping[str, float]
    # What a find that stands out lends along a link of strength 1.
    spread: Mapping[str, float] = field(default_factory=dict)
    names_apart: bool = True  # people's names are cut from what is embedded


PROFILES = {
    # What measures best. The weights are round: nothing was fitted.
    "woven": RankingProfile(
        weights={
            "meaning": 0.8,
            "beside": 0.5,
            "words": 0.4,
            "heard": 0.3,
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
    # The blend as published: 0.2 of full text, 0.8 of meaning, and boosts.
    "published": RankingProfile(
        weights={
            "vector": 0.8,
            "full_text": 0.2,
            "importance": 0.05,
            "recency": 0.05,
            "pinned": 0.1,
            "access": 0.05,
        },
        names_apart=False,
    ),
}


@dataclass(frozen=True, slots=True)
class RankedHit:
    """One thing that was found, and how it was."""

    all: "ScoredHits"
    place: int
    score: float  # with what was lent

    def told(self, name: str) -> Any:
        return self.all.found[name][self.place]

    @property
    def id(self) -> str:
        return str(self.told("id"))

    @property
    def signals(self) -> dict[str, float]:
        return {name: float(signal[self.place]) for name, signal in self.all.signals.items()}

    @property
    def confidence(self) -> float:
        """How near the nearest of it is to the question, whatever else speaks for it."""
        return max(0.0, min(1.0, float(self.all.signals["meaning"][self.place])))

    @property
    def lent(self) -> float:
        return float(self.all.lent[self.place])


@dataclass(slots=True)
class ScoredHits:
    """All that was found, side by side: a list of each property, a figure of each signal."""

    found: Found
    signals: Signals
    scores: Figures  # by the signals alone
    lent: Figures = field(init=False)

    def __post_init__(self) -> None:
        self.lent = np.zeros(len(self.scores))

    @property
    def totals(self) -> Figures:
        return (self.scores + self.lent) * self.found["weight_modifier"]

    def ranked(self, *, facts_apart: bool = False) -> list[RankedHit]:
        """The best of each turn, from the best on, then all others in the same order.

        With `facts_apart`, the best fact of each turn and the best of what else it gave, alone.
        """
        totals = self.totals
        firsts, others = self.by_turn(totals, facts_apart=facts_apart)
        places = firsts if facts_apart else firsts + others
        return [RankedHit(self, place, float(totals[place])) for place in places]

    def by_turn(
        self, figures: Figures, *, facts_apart: bool = False
    ) -> tuple[list[int], list[int]]:
        """The places of the best of each turn and those of all others, each from the best on."""
        ids, kinds, sources = (self.found[name] for name in ("id", "memory_type", "source_id"))
        seen = set[tuple[Any, ...]]()
        firsts, others = list[int](), list[int]()
        for _, id_, place in sorted(zip((-figures).tolist(), ids, range(len(ids)), strict=True)):
            fact = facts_apart and kinds[place] == MemoryType.SEMANTIC
            turn = (sources[place], fact) if sources[place] else (id_,)
            (others if turn in seen else firsts).append(place)
            seen.add(turn)
        return firsts, others

    def ahead(self) -> dict[str, float]:
        """Those that stand out, by id, and how far they are ahead of the ones that do not."""
        scores = self.totals  # nothing is lent yet
        ranked, _ = self.by_turn(scores)
        if not ranked:
            return {}
        rest = scores[ranked[: STAND_OUT + 1][-1]]
        ids = self.found["id"]
        return {
            ids[place]: float(scores[place] - rest)
            for place in ranked[:STAND_OUT]
            if scores[place] > rest
        }

    def lend(self, links: Links, profile: RankingProfile) -> None:
        """What stands out lifts what it is linked to, by the strength of the links between them.

        The most that any of them lends is what counts.
        """
        excess = self.ahead()
        places = {id_: place for place, id_ in enumerate(self.found["id"])}
        others = profile.spread.get("others", 0.0)
        for source_id, id_, kind, *strengths in zip(
            *(links[name] for name in ("source_id", "id", "type", "strength", "further")),
            strict=True,
        ):
            lent, place = excess.get(source_id), places.get(id_)
            if lent is None or place is None:
                continue
            rate = profile.spread.get(kind, others)
            for strength in strengths:
                lent *= 1.0 if strength is None else min(MOST_LENT, rate * strength)
            self.lent[place] = max(self.lent[place], lent)


def score_hits(
    found: Found,
    question: Question,
    vector: Vector,
    lexicon: Lexicon,
    profile: RankingProfile,
    now: datetime,
    *,
    by_spelling: bool = False,
) -> ScoredHits:
    """What was found, with every signal and the score they come to.

    With `by_spelling`, for a question the model has no words for, nearness in spelling stands in
    for nearness in meaning.
    """
    faces = VectorMatrix.unpack(found["packed_vectors"], len(vector))
    alone, beside = faces.nearest(vector)
    similarity = np.array(found["similarity"], float)
    if by_spelling:
        alone = beside = similarity = spelled_alike(question.text, found["text"])
    words, heard = matching(faces, question, lexicon)
    matched = np.array(found["matched"], float)
    signals: Signals = {
        "meaning": alone,
        "beside": beside,
        "vector": similarity,
        "words": words,
        "heard": heard,
        "full_text": matched / max(matched.max(initial=0.0), 1e-9),
        **metadata_signals(found, question, now),
    }
    scores = np.zeros(faces.count)
    for name, weight in profile.weights.items():
        scores += weight * signals[name]
    return ScoredHits(found, signals, scores)


def moment(microseconds: int) -> datetime:
    """A time as the statements tell it."""
    return EPOCH + microseconds * MICROSECOND


def metadata_signals(found: Found, question: Question, now: datetime) -> Signals:
    """What can be told of a memory without looking at what it means."""
    meant = question.people if len(question.people) == 1 else ()
    said, texts = found["said_at"], found["text"]
    days = ((now - EPOCH) / MICROSECOND - np.array(said, float)) / DAY
    spans = question.spans
    when = [max(time_fit(it, moment(at)) for it in spans) for at in said] if spans else 0.0
    return {
        "who": np.array([it in meant for it in found["about"]], float),
        "when": np.zeros(len(said)) + when,
        "length": np.minimum(1.0, np.log1p([len(text) for text in texts]) / LONG),
        "question": np.array([text.rstrip().endswith("?") for text in texts], float),
        "importance": np.array(found["importance"], float) / 5 - 1,
        "recency": np.exp(-np.maximum(days, 0.0) / 30),
        "pinned": np.array(found["pinned"], float),
        "access": np.minimum(1.0, np.log1p(found["access_count"]) / MANY),
    }


def spelled_alike(question: str, texts: Sequence[str]) -> Figures:
    """The share of a question's pieces, of two or three letters, that each text begins with."""
    pieces = spelled_pieces(question)
    if not pieces:
        return np.zeros(len(texts))
    beginnings = [text[:SPELLED].lower() for text in texts]
    return np.array([sum(piece in text for piece in pieces) / len(pieces) for text in beginnings])


def matching(faces: VectorMatrix, question: Question, lexicon: Lexicon) -> tuple[Figures, Figures]:
    """How much of what is asked each text speaks of, in these words or in near ones: its own, and
    those of the question it answers. A word that few speak of counts more."""
    known = (word for word in question.words if word in lexicon.places)
    asked = telling_words(known, lexicon.places)
    own, heard = (
        words.most(lexicon.near(asked, words.values) ** 2) for words in (faces.words, faces.heard)
    )
    spoken = own.sum(axis=1)
    rare = np.log(1 + (faces.count - spoken + 0.5) / (spoken + 0.5))
    share = rare / max(rare.sum(), 1e-9)
    return share @ own, share @ heard
