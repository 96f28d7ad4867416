"""What a forgotten shape may say of its sources: numbers, times and safe words. Pure functions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.bounds import ITEM_TEXT
from engine.models import Row
from engine.text import join_with_and

MAX_EXPERIENCE = 2_000  # characters of connected_themes, and of felt_absence
MAX_MARKER = 100  # characters of temporal_marker
MAX_SOURCE_SIMILARITY = 0.8  # cosine to a source from which a vector gives its text away
IMPORTANCE = 3  # of every shape, at first
MANY_RECALLS = 10  # a memory that was recalled as often has mattered as much as recalls can show
# How much of the residue comes from what was felt, how important it was, and how often recalled.
FEELING_SHARE, IMPORTANCE_SHARE, RECALL_SHARE = 0.5, 0.3, 0.2
MATTERED = ((0.5, "it mattered a lot"), (0.2, "it mattered"), (0.0, "it hardly mattered"))


@dataclass(frozen=True, slots=True)
class ShapeExperience:
    """What it is like that something is missing. Says nothing of what it was."""

    connected_themes: str
    felt_absence: str
    emotional_residue: float  # 0 to 1
    temporal_marker: str
    sense_of_loss: str


@dataclass(frozen=True, slots=True)
class ShapeOutline:
    """All that a shape is made of, as values: whatever it says follows from these."""

    themes: tuple[str, ...]
    memories: int
    first: datetime
    last: datetime
    residue: float
    depth: int = 1  # 1 of memories, 2 of shapes of memories, and so on

    @property
    def temporal_marker(self) -> str:
        first, last = f"{self.first:%B %Y}", f"{self.last:%B %Y}"
        return f"in {first}" if first == last else f"between {first} and {last}"

    @property
    def topic(self) -> str:
        return f"about {join_with_and(self.themes)}" if self.themes else "you cannot name"

    @property
    def sense_of_loss(self) -> str:
        return next(words for least, words in MATTERED if self.residue >= least)

    @property
    def felt_absence(self) -> str:
        """The sentence of the template, which a language model may only say in other words."""
        return f"Something {self.topic} is gone, {self.temporal_marker}; {self.sense_of_loss}."

    def experience(self, felt_absence: str | None = None) -> ShapeExperience:
        """The experience record, with the sentence given or that of the template."""
        return ShapeExperience(
            connected_themes=", ".join(self.themes)[:MAX_EXPERIENCE],
            felt_absence=(felt_absence or self.felt_absence)[:MAX_EXPERIENCE],
            emotional_residue=self.residue,
            temporal_marker=self.temporal_marker[:MAX_MARKER],
            sense_of_loss=self.sense_of_loss,
        )

    def content(self) -> dict[str, Any]:
        """The content of the memory."""
        return {
            "kind": "shape",
            "themes": list(self.themes),
            "memories": self.memories,
            "first": self.first.isoformat(),
            "last": self.last.isoformat(),
            "depth": self.depth,
        }


def shape_title(day: datetime) -> str:
    return f"Forgotten Shape -- {day:%Y-%m-%d}"


def outline_text(outline: ShapeOutline) -> str:
    """What recall and hydration say of a shape."""
    # Of shapes that were added by hand nobody knows how many memories they stand for.
    count = f"{outline.memories} {'memory' if outline.memories == 1 else 'memories'} "
    known = count if outline.memories else ""
    when, loss = outline.temporal_marker, outline.sense_of_loss
    return f"You once knew something {outline.topic}: {known}{when}, {loss}."[:ITEM_TEXT]


def emotional_residue(sources: Sequence[Row]) -> float:
    """What is still felt of some memories, 0 to 1.

    From the strength of what was felt (the mean of those with a feeling), how important they were,
    and how often they were recalled.
    """
    felt = [
        (abs(source["valence"]) + (source["arousal"] or 0.0)) / 2
        for source in sources
        if source["valence"] is not None
    ]
    feeling = sum(felt) / len(felt) if felt else 0.0
    importance = mean([(source["weight"] - 1) / 9 for source in sources])
    recalls = mean([recall_signal(source["access_count"]) for source in sources])
    residue = FEELING_SHARE * feeling + IMPORTANCE_SHARE * importance + RECALL_SHARE * recalls
    return clamped(residue)


def recall_signal(accesses: int) -> float:
    return min(1.0, math.log1p(accesses) / math.log1p(MANY_RECALLS))


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def clamped(residue: float) -> float:
    """The residue, brought between 0 and 1."""
    return round(max(0.0, min(1.0, residue)), 4) if math.isfinite(residue) else 0.0
