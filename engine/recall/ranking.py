"""Ranking: the weighted sum of the signals of each hit, and the scores that spread along links."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from engine.models import MemoryType
from engine.recall.asked import Asked
from engine.recall.profiles import RankingProfile
from engine.recall.signals import Signals, item_signals, joined
from engine.recall.tables import TYPES, BoolArray, FloatArray, ItemTable

SPREADING_HITS = 10  # best hits whose lead over the next one spreads along links
SPARE_HITS = 64  # sorted beyond twice what is wanted, since a turn can have several
# Of the first ten hits, the last are for forgotten shapes: one always, three where nothing that
# lives answers clearly, that is where the best of it is little ahead of the tenth.
FIRST_HITS, SHAPE_PLACES, UNCLEAR_LEAD = 10, 3, 0.5
MAX_BEHIND = 0.75  # of a shape, beyond the first, to the hit whose place it takes
MAX_SPREAD = 1.0  # share of a lead that passes along one link, at most


class Link(NamedTuple):
    """A way from one of the best hits to another item."""

    source_id: str
    id: str
    type: str
    strength: float  # times its weight_modifier
    further: float | None = None  # strength of the second link, on a way of two


class Way(NamedTuple):
    """Where a link leads, and what share of its source's lead passes along it."""

    target: int  # its index among all items
    share: float
    further: float  # along the second link of a way of two, else 1


def way_along(link: Link, target: int, profile: RankingProfile) -> Way:
    """The way of a link that leads to the item with this index."""
    rate = profile.spread.get(link.type, profile.spread.get("others", 0.0))
    share = min(MAX_SPREAD, rate * link.strength)
    return Way(target, share, 1.0 if link.further is None else min(MAX_SPREAD, rate * link.further))


@dataclass(frozen=True, slots=True)
class RankedHit:
    """One hit of a search with its score."""

    hits: "ScoredItems"
    index: int  # among all items
    score: float  # with what spread to it

    def column(self, name: str) -> Any:
        """The value of a stored property."""
        return self.hits.value(name, self.index)

    @property
    def place(self) -> tuple[ItemTable, int]:
        """The table of the item, and its row there."""
        return self.hits.place(self.index)

    @property
    def id(self) -> str:
        return self.hits.id_at(self.index)

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

    @property
    def standing(self) -> float:
        """The part of the score for bearing on whatever is asked."""
        return float(np.broadcast_to(self.hits.standing, len(self.hits.scores))[self.index])


@dataclass(slots=True)
class ScoredItems:
    """The items of one or several tables: an array for each signal, and which may be returned."""

    tables: Sequence[ItemTable]
    signals: Signals
    scores: FloatArray  # weighted sums of the signals
    allowed: BoolArray
    spread: FloatArray = field(init=False)  # added by links
    standing: FloatArray | float = 0.0  # added to what bears on whatever is asked; does not spread
    weight_modifiers: FloatArray = field(init=False)
    lives: BoolArray = field(init=False)  # false for forgotten shapes
    _starts: list[int] = field(init=False)  # index of the first item of each table

    def __post_init__(self) -> None:
        self.spread = np.zeros(len(self.scores))
        self.weight_modifiers = joined(table.numbers["weight_modifier"] for table in self.tables)
        kinds = [table.types != TYPES[MemoryType.FORGOTTEN_SHAPE] for table in self.tables]
        self.lives = np.concatenate(kinds) if kinds else np.zeros(0, bool)
        starts = np.cumsum([0, *(len(table) for table in self.tables)])
        self._starts = starts[:-1].tolist()

    def place(self, index: int) -> tuple[ItemTable, int]:
        """The table of an item, and its row there."""
        number = bisect_right(self._starts, index) - 1
        return self.tables[number], index - self._starts[number]

    def id_at(self, index: int) -> str:
        table, row = self.place(index)
        return table.ids[row]

    def value(self, name: str, index: int) -> Any:
        table, row = self.place(index)
        return table.columns[name][row]

    def index_of(self, id_: str) -> int | None:
        """The index of an item that may be returned; None when there is none."""
        for table, start in zip(reversed(self.tables), reversed(self._starts), strict=True):
            row = table.row_by_id.get(id_)
            if row is not None and table.alive[row]:
                return start + row if self.allowed[start + row] else None
        return None

    def with_more(self, more: "ScoredItems") -> "ScoredItems":
        """These items and those of other tables, before anything has spread."""
        if not len(more.scores):
            return self
        both = (self, more)
        joined_items = ScoredItems(
            [*self.tables, *more.tables],
            {name: joined(items.signals[name] for items in both) for name in self.signals},
            joined(items.scores for items in both),
            np.concatenate([items.allowed for items in both]),
        )
        joined_items.standing = joined(
            np.broadcast_to(items.standing, len(items.scores)) for items in both
        )
        return joined_items

    @property
    def totals(self) -> FloatArray:
        """The final scores. Minimized memories count less."""
        return (self.scores + self.spread + self.standing) * self.weight_modifiers

    @property
    def best_confidence(self) -> float:
        """The highest similarity to the question of all memories that may be returned; 0 of none.

        A shape answers nothing.
        """
        living = self.allowed & self.lives
        return float(self.signals["meaning"][living].max(initial=0.0)) if self.signals else 0.0

    def ranked(self, max_hits: int, *, facts_apart: bool = False) -> list[RankedHit]:
        """The best hit of each turn, best first, then all other hits in the same order.

        With `facts_apart`, only the best fact of each turn and the best of its other hits. Shapes
        come at the end of the first ten, or of all if what lives gives a clear answer.
        """
        totals = self.totals
        wanted = max(max_hits, FIRST_HITS)
        best, others = self.best_of_turns(totals, wanted, facts_apart=facts_apart)
        living = best if facts_apart else best + others
        shape_indices = np.flatnonzero(self.allowed & ~self.lives)
        shapes = self._top(totals, shape_indices, wanted) if len(shape_indices) else []
        indices = with_shapes(living, shapes, totals)
        return [RankedHit(self, index, float(totals[index])) for index in indices[:max_hits]]

    def best_of_turns(
        self, scores: FloatArray, wanted: int, *, facts_apart: bool = False
    ) -> tuple[list[int], list[int]]:
        """The indices of the best hit of each turn, and those of all others, each best first.

        A turn is the message a hit was drawn from. Equal scores are ordered by id. Ends when there
        are as many turns as wanted: the others are complete only when there are fewer. Forgotten
        shapes are left out.
        """
        candidates = np.flatnonzero(self.allowed & self.lives)
        considered = 2 * wanted + SPARE_HITS
        while True:
            best, others = self._split_turns(
                self._top(scores, candidates, considered), wanted, facts_apart=facts_apart
            )
            if len(best) >= wanted or considered >= len(candidates):
                return best, others
            considered *= 4

    def _top(self, scores: FloatArray, candidates: Any, count: int) -> list[int]:
        """The indices of the best of these items, at least `count` if there are, best first."""
        chosen, values = candidates, scores[candidates]
        if count < len(candidates):
            least = np.partition(values, len(values) - count)[len(values) - count]
            is_chosen = values >= least  # all that are as good as the last
            chosen, values = candidates[is_chosen], values[is_chosen]
        order = np.argsort(-values, kind="stable")
        indices: list[int] = chosen[order].tolist()
        ordered = values[order]
        if not (ordered[1:] == ordered[:-1]).any():
            return indices
        best_first = zip(indices, ordered.tolist(), strict=True)
        return [
            index
            for _, equals in groupby(best_first, key=itemgetter(1))
            for index in self._by_id([index for index, _ in equals])
        ]

    def _by_id(self, indices: list[int]) -> list[int]:
        return sorted(indices, key=self.id_at) if len(indices) > 1 else indices

    def _split_turns(
        self, indices: Iterable[int], wanted: int, *, facts_apart: bool
    ) -> tuple[list[int], list[int]]:
        seen = set[tuple[Any, ...]]()
        best, others = list[int](), list[int]()
        for index in indices:
            if len(best) == wanted:
                break
            table, row = self.place(index)
            source_id = table.columns["source_id"][row]
            is_fact = facts_apart and table.columns["memory_type"][row] == MemoryType.SEMANTIC
            turn = (source_id, is_fact) if source_id else (table.ids[row],)
            (others if turn in seen else best).append(index)
            seen.add(turn)
        return best, others

    def leads(self) -> dict[str, float]:
        """By id of the best hits: how far each is ahead of the first that is not among them."""
        scores = self.scores * self.weight_modifiers
        best, _ = self.best_of_turns(scores, SPREADING_HITS + 1)
        if not best:
            return {}
        baseline = scores[best[: SPREADING_HITS + 1][-1]]
        return {
            self.id_at(index): float(scores[index] - baseline)
            for index in best[:SPREADING_HITS]
            if scores[index] > baseline
        }

    def spread_along(
        self, leads: Mapping[str, float], links: Iterable[Link], profile: RankingProfile
    ) -> None:
        """Raise the hits that the best ones are linked to, by the strength of the links."""
        ways: dict[str, list[Way]] = {}
        for link in links:
            index = self.index_of(link.id)
            if index is not None:
                ways.setdefault(link.source_id, []).append(way_along(link, index, profile))
        self.spread_on(leads, ways)

    def spread_on(self, leads: Mapping[str, float], ways: Mapping[str, Iterable[Way]]) -> None:
        """Raise what the ways from the best hits lead to.

        A hit that several ways lead to gets the largest of their amounts, not the sum.
        """
        largest: dict[int, float] = {}
        for source_id, lead in leads.items():
            for target, share, further in ways.get(source_id, ()):
                amount = lead * share * further
                if amount > largest.get(target, 0.0):
                    largest[target] = amount
        self.spread[[*largest]] = [*largest.values()]


def with_shapes(living: Sequence[int], shapes: Sequence[int], totals: FloatArray) -> Sequence[int]:
    """The indices of living memories and of shapes in one order; each are given best first.

    What lives is found as if there were no shapes, but for the last of the first ten places.
    """
    if not shapes:
        return living
    places = shape_places(living, shapes, totals)
    first = FIRST_HITS - places
    return [*living[:first], *shapes[:places], *living[first:], *shapes[places:]]


def shape_places(living: Sequence[int], shapes: Sequence[int], totals: FloatArray) -> int:
    """How many of the first ten places shapes take; both are given best first."""
    most = min(SHAPE_PLACES, len(shapes))
    if len(living) < FIRST_HITS:
        return most
    best = living[:FIRST_HITS]
    if totals[best[0]] - totals[best[-1]] >= UNCLEAR_LEAD:
        return 1
    places = 1
    while places < most and totals[best[-1 - places]] - totals[shapes[places]] <= MAX_BEHIND:
        places += 1
    return places


def score_items(
    tables: Sequence[ItemTable],
    allowed: BoolArray,
    asked: Asked,
    profile: RankingProfile,
    now: datetime,
    *,
    by_spelling: bool = False,
) -> ScoredItems:
    """All items of the tables with every signal and their weighted sum.

    With `by_spelling`, for a question the model has no words for, similarity in spelling replaces
    similarity in meaning.
    """
    parts = [item_signals(table, asked, now, by_spelling=by_spelling) for table in tables]
    signals = {name: joined(part[name] for part in parts) for name in parts[0]} if parts else {}
    scores = np.zeros(len(allowed))
    for name, weight in profile.weights.items() if parts else ():
        scores += weight * signals[name]
    items = ScoredItems(tables, signals, scores, allowed)
    if parts and profile.standing and asked.question.looks_forward:
        is_standing = joined(table.standing for table in tables)
        items.standing = profile.standing * np.maximum(signals["near"], 0.0) * is_standing
    return items
