"""The index in Neo4j: for any size, for personas that are not in memory, and for every filter."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from engine.embedding import Lexicon, search_scope
from engine.models import EARLIEST
from engine.recall.fulltext import full_text_query
from engine.recall.ranking import Link, RankedHit, ScoredItems, score_items
from engine.recall.search import MAX_PAGED, Search
from engine.recall.tables import STANDING, Columns, ItemTable
from engine.store import Graph

VECTOR_HITS = 150  # from the vector index
FULL_TEXT_HITS = 150  # from the full-text index
PERSON_HITS = 300  # when one person is meant: what is about that person counts from further away
POOL_SIZE = 120  # of these, the best by a rough score, that are ranked
SPELLING_HITS = 300  # from each index, when only the spelling of a question can be compared
MAX_SCANNED = 10_000  # memories of a project or with tags that are compared one by one
# Weight of similarity against full text when the hits to rank are chosen.
VECTOR_WEIGHT, SPELLING_VECTOR_WEIGHT = 0.8, 0.05
MAX_PERIODS = 4  # of a question that are searched one by one
DAYS_AFTER = timedelta(days=7)  # a period in which what happened in it is still spoken of
LINK_SOURCES = 15  # best hits whose links are followed
LINKS_PER_HIT = 5  # links of one of them, other than sequences, that are followed


class GraphIndex:
    """Searches in the graph: one round trip finds, another follows the links of the best."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def find(self, search: Search, lexicon: Lexicon) -> tuple[list[RankedHit], bool]:
        """The hits of all pages, and whether flagged ones are among them.

        When no hit reaches the threshold of confidence, flagged memories that do come first. This
        is decided anew for each page, so that all pages show the same order.
        """
        items, hits, has_flagged = await self.find_among(search, lexicon, flagged=False)
        flagged: list[RankedHit] = []
        if has_flagged and not search.is_answered_by(items):
            _, flagged, _ = await self.find_among(search, lexicon, flagged=True)
        return search.with_fallback(hits, flagged)

    async def find_among(
        self, search: Search, lexicon: Lexicon, *, flagged: bool
    ) -> tuple[ScoredItems, list[RankedHit], bool]:
        """What was found among flagged or among other memories, and the hits of all pages of it.

        Also whether there are flagged ones at all.
        """
        (answer,) = await self._graph.read(
            "recall/search/find_items", **search_parameters(search, lexicon, flagged=flagged)
        )
        items = scored(answer["found"], search)
        leads = items.leads() if search.profile.spread else {}
        if leads:
            linked, links = await self._follow_links(search, items, leads, flagged=flagged)
            items = items.with_more(linked)
            items.spread_along(leads, links, search.profile)
        hits = items.ranked(search.wanted_hits, facts_apart=search.facts_apart)
        return items, hits, answer["has_flagged"]

    async def _follow_links(
        self, search: Search, items: ScoredItems, source_ids: Iterable[str], *, flagged: bool
    ) -> tuple[ScoredItems, list[Link]]:
        """The items that the best ones are linked to and that are not among `items`; the links."""
        (answer,) = await self._graph.read(
            "recall/search/follow_links",
            **filter_parameters(search, flagged=flagged),
            source_ids=list(source_ids),
            known_ids=[id_ for table in items.tables for id_ in table.ids],
            linked=LINKS_PER_HIT,
        )
        names = ("source_id", "id", "type", "strength", "further")
        columns = (answer["links"][name] for name in names)
        links = [Link(*values) for values in zip(*columns, strict=True)]
        return scored(answer["found"], search), links


def scored(columns: Columns, search: Search) -> ScoredItems:
    """The items that a statement returned, with their scores."""
    table = ItemTable.of(columns, len(search.asked.vector))
    return score_items(
        [table],
        np.ones(len(table), bool),
        search.asked,
        search.profile,
        search.at,
        by_spelling=search.by_spelling,
    )


def search_parameters(search: Search, lexicon: Lexicon, *, flagged: bool) -> dict[str, Any]:
    """The parameters of the search statement."""
    filters, question = search.filters, search.asked.question
    max_ranked = MAX_PAGED if filters.narrow else POOL_SIZE
    people = list(question.people) if len(question.people) == 1 else []
    vector_hits = PERSON_HITS if people else VECTOR_HITS
    vector_hits = SPELLING_HITS if search.by_spelling else vector_hits
    scope = search_scope(search.tenant_id, search.persona_id)
    return {
        **filter_parameters(search, flagged=flagged),
        "standing": list(STANDING) if search.profile.standing and question.looks_forward else None,
        "embedding": search.asked.vector,
        "query": full_text_query(scope, question.words, lexicon.positions),
        "periods": periods_asked(search),
        "people": people,
        "nearest": max(vector_hits, max_ranked) if filters.narrow else vector_hits,
        "matching": SPELLING_HITS if search.by_spelling else FULL_TEXT_HITS,
        "scanned": MAX_SCANNED,
        "by_meaning": SPELLING_VECTOR_WEIGHT if search.by_spelling else VECTOR_WEIGHT,
        "limit": max(SPELLING_HITS if search.by_spelling else max_ranked, search.limit),
    }


def periods_asked(search: Search) -> list[dict[str, datetime]]:
    """The periods that the question is about, each with the days after it when people still speak
    of it, as far as filters allow them."""
    earliest = search.filters.from_at or EARLIEST
    periods = (
        {"start": max(period.start, earliest), "end": min(period.end + DAYS_AFTER, search.to_at)}
        for period in search.asked.question.periods[:MAX_PERIODS]
    )
    return [period for period in periods if period["start"] <= period["end"]]


def filter_parameters(search: Search, *, flagged: bool) -> dict[str, Any]:
    """The parameters that say which items may be returned."""
    filters = search.filters
    return {
        "tenant_id": search.tenant_id,
        "persona_id": search.persona_id,
        "flagged": flagged,
        "states": search.states(flagged=flagged),
        "types": [memory_type.value for memory_type in filters.types],
        "from_at": filters.from_at or EARLIEST,
        "to_at": search.to_at,
        "as_of": search.at,
        "past_fact": search.past_fact,
        "categories": list(filters.categories) if filters.categories else None,
        "tags": list(filters.tags) if filters.tags else None,
        "project": filters.project,
    }
