"""One question to one persona, as values: what is asked, what may be returned, in which order."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from engine.models import MemoryType
from engine.recall.asked import Asked
from engine.recall.profiles import RankingProfile
from engine.recall.ranking import RankedHit, ScoredItems
from engine.recall.tables import OTHER_STATE, STATES, TYPES, BoolArray, ItemTable
from engine.recall.times import microseconds

MAX_PAGED = 200  # hits that can be paged through; with narrow filters as many are ranked
RANKED_HITS = 80  # hits of a question without narrow filters
MAX_FLAGGED = 10  # flagged hits returned when nothing else matches
END_OF_TIME = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Filters:
    """Restrictions on what a recall returns."""

    types: tuple[MemoryType, ...] = tuple(MemoryType)
    categories: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    project: str | None = None
    from_at: datetime | None = None
    to_at: datetime | None = None
    include_pending: bool = True
    include_archived: bool = False

    @property
    def states(self) -> list[str]:
        pending = ["pending"] if self.include_pending else []
        return ["active", *pending, *(["archived"] if self.include_archived else [])]

    @property
    def narrow(self) -> bool:
        return bool(self.categories or self.tags or self.project)


@dataclass(frozen=True, slots=True)
class Search:
    """One question to one persona."""

    tenant_id: str
    persona_id: str
    asked: Asked
    profile: RankingProfile
    filters: Filters
    at: datetime
    start: int  # of the page, in the order of all hits
    limit: int  # of one page
    facts_apart: bool
    by_spelling: bool  # the model has no words for the question
    threshold: float  # confidence below which flagged memories are looked at
    reranked: int = 0  # how many of the best hits are ordered once more

    @property
    def max_hits(self) -> int:
        """How many hits all pages have together, at most."""
        return max(MAX_PAGED if self.filters.narrow else RANKED_HITS, self.limit)

    @property
    def wanted_hits(self) -> int:
        """How many hits have to be in order: up to this page, and one to know of another page."""
        return min(self.max_hits, max(self.start + self.limit + 1, self.reranked))

    def returned(self, hits: Sequence[RankedHit]) -> Sequence[RankedHit]:
        """The hits that this page may show: those of the page, or any that are ordered again."""
        end = self.start + self.limit
        return hits[: max(end, self.reranked)] if self.reranked else hits[self.start : end]

    def states(self, *, flagged: bool) -> list[str]:
        return ["active", "suppressed"] if flagged else self.filters.states

    @property
    def past_fact(self) -> str | None:
        """The key of the fact whose history is asked for."""
        question = self.asked.question
        return question.fact if question.asks_past else None

    @property
    def to_at(self) -> datetime:
        return min(self.filters.to_at or END_OF_TIME, self.at)

    def allowed_rows(self, table: ItemTable, *, flagged: bool) -> BoolArray:
        """Which rows of a table this search may return, as `recallable_item` decides it."""
        filters = self.filters
        said_at = table.numbers["said_at"]
        holds = table.valid_to > microseconds(self.at)
        allowed: BoolArray = (
            table.alive
            & (table.numbers["flagged"] == flagged)
            & is_among(table.states, [STATES[state] for state in self.states(flagged=flagged)])
            & (said_at <= microseconds(self.to_at))
            & (holds | table.is_named(table.facts, self.past_fact))
        )
        if len(filters.types) < len(TYPES):
            allowed &= is_among(table.types, [TYPES[kind.value] for kind in filters.types])
        if filters.from_at:
            allowed &= said_at >= microseconds(filters.from_at)
        if filters.narrow:
            allowed &= self._narrowed(table)
        return allowed

    def _narrowed(self, table: ItemTable) -> BoolArray:
        filters, columns = self.filters, table.columns
        wanted = {*(filters.tags or ())}
        return np.array(
            [
                (not filters.categories or category in filters.categories)
                and wanted <= {*(tags or ())}
                and (not filters.project or project == filters.project)
                for category, tags, project in zip(
                    columns["category"], columns["tags"], columns["project"], strict=True
                )
            ],
            bool,
        )

    def with_fallback(
        self, hits: Sequence[RankedHit], flagged: Sequence[RankedHit]
    ) -> tuple[list[RankedHit], bool]:
        """The hits of all pages, and whether flagged ones are among them."""
        near = [hit for hit in flagged if hit.confidence >= self.threshold]
        return [*near[:MAX_FLAGGED], *hits][:MAX_PAGED], bool(near)

    def is_answered_by(self, items: ScoredItems) -> bool:
        """Whether any item is near enough, so that nothing flagged is looked at.

        All that may be returned count, not those of this page, so that all pages agree.
        """
        return items.best_confidence >= self.threshold


def is_among(numbers: npt.NDArray[np.int8], wanted: Sequence[int]) -> BoolArray:
    """Which of these small numbers are among the wanted ones."""
    by_number = np.zeros(max(*STATES.values(), OTHER_STATE, *TYPES.values()) + 1, bool)
    by_number[wanted] = True
    return by_number[numbers]
