"""Which of the things found answer a question: every signal, how they are weighed, what spreads."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.embedding import Lexicon, Vector
from engine.facets import Faces
from engine.graph import Row
from engine.models import MemoryType
from engine.questions import Question, told_in

Signals = dict[str, npt.NDArray[np.float64]]

STAND_OUT = 10  # finds that may lend to others what they are ahead of the next
LONG = math.log(400)  # characters, from which more of them say no more
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
DAY = 86_400e6  # microseconds
MOST_LENT = 1.0  # of what a find is ahead, to what one link leads to


@dataclass(frozen=True, slots=True)
class Profile:
    """How the signals are weighed. All are between 0 and 1, but for meaning, which can be less."""

    weights: Mapping[str, float]
    # What a find that stands out lends along a link of strength 1.
    spread: Mapping[str, float] = field(default_factory=dict)
    names_apart: bool = True  # people's names are cut from what is embedded


PROFILES = {
    # What measures best. The weights are round: nothing was fitted.
    "woven": Profile(
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
    "published": Profile(
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


@dataclass(slots=True)
class Find:
    """One thing that was found, and how it was."""

    row: Row
    signals: dict[str, float]
    score: float
    lent: float = 0.0

    @property
    def id(self) -> str:
        return str(self.row["id"])

    @property
    def turn(self) -> tuple[Any, Any]:
        """What was said together is one answer."""
        return self.row["conversation_id"], self.row["said_at"]

    @property
    def confidence(self) -> float:
        """How near the nearest of it is to the question, whatever else speaks for it."""
        return max(0.0, min(1.0, self.signals["meaning"]))

    @property
    def total(self) -> float:
        return (self.score + self.lent) * float(self.row["weight_modifier"] or 1.0)


def weigh(
    rows: Sequence[Row],
    question: Question,
    vector: Vector,
    lexicon: Lexicon,
    profile: Profile,
    now: datetime,
    *,
    best_match: float,
    rarity: Mapping[str, float] | None = None,
) -> tuple[list[Find], dict[str, float]]:
    """Each row with its signals and its score; and how rare each word is among the rows, by which
    rows that are found later are weighed too."""
    if not rows:
        return [], dict(rarity or {})
    faces = Faces.unpack([row["facets"] for row in rows], len(vector))
    alone, beside = faces.nearest(vector)
    words, heard, rarity = matching(faces, question, lexicon, rarity)
    signals: Signals = {
        "meaning": alone.astype(float),
        "beside": beside.astype(float),
        "vector": np.array([row.get("similarity") or 0.0 for row in rows]),
        "words": words,
        "heard": heard,
        "full_text": np.array([(row.get("matched") or 0.0) / best_match for row in rows]),
        **told(rows, question, now),
    }
    names = list(signals)
    weights = np.array([profile.weights.get(name, 0.0) for name in names])
    table = np.stack([signals[name] for name in names])
    scores = weights @ table
    return [
        Find(row, dict(zip(names, table[:, place].tolist(), strict=True)), float(scores[place]))
        for place, row in enumerate(rows)
    ], rarity


def moment(microseconds: int) -> datetime:
    """A time as the statements tell it."""
    return EPOCH + microseconds * MICROSECOND


def told(rows: Sequence[Row], question: Question, now: datetime) -> Signals:
    """What can be told of a memory without looking at what it means."""
    one = len(question.people) == 1
    age = ((now - EPOCH) / MICROSECOND - np.array([row["said_at"] for row in rows])) / DAY
    return {
        "who": np.array([float(one and row["about"] in question.people) for row in rows]),
        "when": np.array(
            [
                max((told_in(it, moment(row["said_at"])) for it in question.spans), default=0.0)
                for row in rows
            ]
        ),
        "length": np.array([min(1.0, math.log1p(len(row["text"])) / LONG) for row in rows]),
        "question": np.array([float(row["text"].rstrip().endswith("?")) for row in rows]),
        "importance": np.array([((row["importance"] or 5) - 5) / 5 for row in rows]),
        "recency": np.exp(-np.maximum(age, 0.0) / 30),
        "pinned": np.array([float(row["pinned"] or False) for row in rows]),
        "access": np.array(
            [min(1.0, math.log1p(row["access_count"] or 0) / math.log(100)) for row in rows]
        ),
    }


def matching(
    faces: Faces, question: Question, lexicon: Lexicon, rarity: Mapping[str, float] | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], dict[str, float]]:
    """How much of what is asked each text speaks of, in these words or in near ones: its own, and
    those of the question it answers. A word that few speak of counts more."""
    asked = [word for word in question.words if word in lexicon.places]
    if not asked:
        nothing = np.zeros(faces.count)
        return nothing, nothing, {}

    def best(words: npt.NDArray[np.intp], owner: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        found = np.zeros((len(asked), faces.count))
        for row, word in zip(found, asked, strict=True):
            np.maximum.at(row, owner, lexicon.near(word)[words] ** 2)
        return found

    own = best(faces.words, faces.word_owner)
    if rarity is None:
        spoken = own.sum(axis=1)
        rare = np.log(1 + (faces.count - spoken + 0.5) / (spoken + 0.5))
        rarity = dict(zip(asked, (rare / max(rare.sum(), 1e-9)).tolist(), strict=True))
    share = np.array([rarity[word] for word in asked])
    return share @ own, share @ best(faces.heard, faces.heard_owner), dict(rarity)


def one_each(finds: Sequence[Find], *, facts_apart: bool = False) -> list[Find]:
    """The finds from the best on, one of each thing that was said; or one fact and one other."""
    seen: dict[tuple[Any, Any, bool], Find] = {}
    for find in sorted(finds, key=lambda it: (-it.total, it.id)):
        fact = facts_apart and find.row["memory_type"] == MemoryType.SEMANTIC
        conversation_id, said_at = find.turn
        key = (conversation_id, said_at, fact) if conversation_id else (None, find.id, fact)
        seen.setdefault(key, find)
    return list(seen.values())


def ahead(finds: Sequence[Find]) -> dict[str, float]:
    """Those that stand out, by id, and how far they are ahead of the ones that do not."""
    ranked = one_each(finds)
    if not ranked:
        return {}
    rest = ranked[STAND_OUT].score if len(ranked) > STAND_OUT else ranked[-1].score
    return {it.id: it.score - rest for it in ranked[:STAND_OUT] if it.score > rest}


def lend(
    finds: Sequence[Find], links: Sequence[Row], excess: Mapping[str, float], profile: Profile
) -> None:
    """What stands out lifts what it is linked to, by the strength of the links between them.

    The most that any of them lends is what counts.
    """
    by_id = {find.id: find for find in finds}
    for link in links:
        find = by_id[link["id"]]
        rate = profile.spread.get(link["type"], profile.spread.get("others", 0.0))
        lent = excess[link["source_id"]]
        for strength in link["strengths"]:
            lent *= min(MOST_LENT, rate * strength)
        find.lent = max(find.lent, lent)
