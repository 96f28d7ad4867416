"""The index in Neo4j: for any size, for personas that are not in memory, and for every filter."""

from typing import Any

import numpy as np

from engine.embedding import Lexicon, search_scope
from engine.models import EARLIEST
from engine.recall.fulltext import full_text_query
from engine.recall.ranking import Link, RankedHit, ScoredItems, score_items
from engine.recall.search import MAX_PAGED, RANKED_HITS, Search
from engine.recall.tables import STANDING, ItemTable
from engine.store import Graph

VECTOR_HITS = 75  # from the vector index
FULL_TEXT_HITS = 150  # from the full-text index
SPELLING_HITS = 300  # from each index, when only the spelling of a question can be compared
MAX_SCANNED = 10_000  # memories of a project or with tags that are compared one by one
# Weight of similarity against full text when the hits to rank are chosen.
VECTOR_WEIGHT, SPELLING_VECTOR_WEIGHT = 0.8, 0.05
LINK_SOURCES = 15  # best hits whose links are followed
LINKS_PER_HIT = 5  # links of one of them, other than sequences, that are followed


class GraphIndex:
    """Searches in the graph, one round trip for each."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def find(self, search: Search, lexicon: Lexicon) -> tuple[list[RankedHit], bool]:
        """The hits of all pages, and whether flagged ones are among them.

        When no hit reaches the threshold of confidence, flagged memories that do come first. This
        is decided anew for each page, so that all pages show the same order.
        """
        items, hits = await self.find_among(search, lexicon, flagged=False)
        flagged: list[RankedHit] = []
        if not search.is_answered_by(items):
            _, flagged = await self.find_among(search, lexicon, flagged=True)
        return search.with_fallback(hits, flagged)

    async def find_among(
        self, search: Search, lexicon: Lexicon, *, flagged: bool
    ) -> tuple[ScoredItems, list[RankedHit]]:
        """What was found among flagged or among other memories, and the hits of all pages of it."""
        (answer,) = await self._graph.read(
            "recall/search/find_items", **search_parameters(search, lexicon, flagged=flagged)
        )
        table = ItemTable.of(answer["found"], len(search.asked.vector))
        items = score_items(
            [table],
            np.ones(len(table), bool),
            search.asked,
            search.profile,
            search.at,
            by_spelling=search.by_spelling,
        )
        names = ("source_id", "id", "type", "strength", "further")
        columns = (answer["links"][name] for name in names)
        links = (Link(*values) for values in zip(*columns, strict=True))
        items.spread_along(items.leads(), links, search.profile)
        return items, items.ranked(search.wanted_hits, facts_apart=search.facts_apart)


def search_parameters(search: Search, lexicon: Lexicon, *, flagged: bool) -> dict[str, Any]:
    """The parameters of the search statement."""
    filters, question = search.filters, search.asked.question
    max_ranked = MAX_PAGED if filters.narrow else RANKED_HITS
    vector_hits = SPELLING_HITS if search.by_spelling else VECTOR_HITS
    scope = search_scope(search.tenant_id, search.persona_id)
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
        "standing": list(STANDING) if search.profile.standing and question.looks_forward else None,
        "categories": list(filters.categories) if filters.categories else None,
        "tags": list(filters.tags) if filters.tags else None,
        "project": filters.project,
        "embedding": search.asked.vector,
        "query": full_text_query(scope, question.words, lexicon.positions),
        "people": list(question.people) if len(question.people) == 1 else [],
        "nearest": max(vector_hits, max_ranked) if filters.narrow else vector_hits,
        "matching": SPELLING_HITS if search.by_spelling else FULL_TEXT_HITS,
        "scanned": MAX_SCANNED,
        "by_meaning": SPELLING_VECTOR_WEIGHT if search.by_spelling else VECTOR_WEIGHT,
        "limit": max(SPELLING_HITS if search.by_spelling else max_ranked, search.limit),
        "sources": LINK_SOURCES if search.profile.spread else 0,
        "linked": LINKS_PER_HIT,
    }
