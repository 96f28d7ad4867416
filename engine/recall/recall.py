"""Recall: what a persona remembers of a question, from memory or from the graph."""

import asyncio
import os
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cachetools import TTLCache

from engine.embedding import Embedder, Vector, estimate_tokens
from engine.errors import Invalid, PersonaNotFound
from engine.ids import new_id
from engine.models import MemoryType, Passage
from engine.policy import Policy, as_policy
from engine.recall.asked import Asked
from engine.recall.graph_index import GraphIndex
from engine.recall.hot_index import RECALLS, HotIndex
from engine.recall.profiles import PROFILES, RankingProfile
from engine.recall.questions import Question, parse_question
from engine.recall.ranking import RankedHit
from engine.recall.reranking import Reranker, rerank
from engine.recall.search import MAX_PAGED, Filters, Search
from engine.recall.times import moment
from engine.store import Graph, decode_place, encode_cursor

PROFILE_CACHE_SIZE = 10_000  # personas
PROCESSORS = max(2, os.cpu_count() or 2)
DEFAULT_PROFILE = "woven"
NO_FILTERS = Filters()
HINT = "This was set aside on request; it may no longer hold."


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory or pending candidate that answers a question."""

    id: str
    memory_type: MemoryType
    text: str
    score: float
    confidence: float  # similarity to the question, 0 to 1
    state: str  # active, archived, or pending for a candidate that waits for the night
    about: str | None
    category: str | None
    said_at: datetime
    conversation_id: str | None
    source_message_id: str | None  # of the first message it was drawn from
    passage: Passage | None  # the part of that message that it is, of a long one
    valid_from: datetime | None
    valid_to: datetime | None
    token_estimate: int
    relearnable: int = 0  # of a forgotten shape: archived memories that relearning it brings back
    deprioritized: bool = False  # flagged; returned only when nothing else matches
    hint: str | None = None
    explain: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RecallResult:
    """One page of the answer to a recall."""

    recall_id: str
    persona_id: str
    hits: list[Hit]
    next_cursor: str | None
    fallback: bool = False  # only flagged memories matched


@dataclass(frozen=True, slots=True)
class PersonaProfile:
    """What a recall needs to know about a persona."""

    name: str
    people: tuple[str, ...]  # names of everybody its memories are about, and its own
    policy: Policy

    def parse(
        self, asked: str, *, now: datetime, asked_by: str | None, ranking: RankingProfile
    ) -> Question:
        """The question, with names and "you" as this persona understands them."""
        question = parse_question(
            asked, people=self.people, now=now, asked_by=asked_by, persona_name=self.name
        )
        return replace(question, text=asked) if ranking.embeds_names else question


class Recall:
    """Recalls from one graph. Caches each persona's profile for some seconds.

    Keeps personas in memory that are asked, up to `hot_bytes` in all; 0 keeps none. Searches the
    graph for `graph_searches` recalls at once, or as many as there are processors: more would only
    share Neo4j's, while a recall that waits may find its persona in memory.
    """

    def __init__(
        self,
        graph: Graph,
        embedder: Embedder,
        *,
        seconds: float,
        profile: str = DEFAULT_PROFILE,
        hot_bytes: int = 0,
        graph_searches: int = 0,
        reranker: Reranker | None = None,
    ) -> None:
        self._graph = graph
        self._embedder = embedder
        self._reranker = reranker
        self._graph_index = GraphIndex(graph)
        self._graph_searches = asyncio.Semaphore(graph_searches or PROCESSORS)
        self._hot_index = HotIndex(graph, dimensions=embedder.dimensions, max_bytes=hot_bytes)
        self._profiles: TTLCache[tuple[str, str], PersonaProfile] = TTLCache(
            PROFILE_CACHE_SIZE, seconds
        )
        self._invalidations = 0  # of the cache, by this process
        self.profile = profile

    async def recall(
        self,
        tenant_id: str,
        persona_id: str,
        asked: str,
        *,
        now: datetime,
        limit: int = 10,
        cursor: str | None = None,
        filters: Filters = NO_FILTERS,
        as_of: datetime | None = None,
        asked_by: str | None = None,
        profile: str | RankingProfile | None = None,
        explain: bool = False,
        vector: Vector | None = None,
        facts_apart: bool = False,
    ) -> RecallResult:
        """The memories that answer a question, best first, one page of them.

        With `as_of`, the answer as of that time. `vector` saves embedding the question. The best
        hit of each message comes first, and the other hits after the best of all messages; with
        `facts_apart`, only the best fact of each message and the best of its other hits.
        """
        start = page_start(cursor)
        persona = await self.persona_profile(tenant_id, persona_id)
        ranking = profile_named(profile or self.profile)
        at = as_of or now
        question = persona.parse(asked, now=at, asked_by=asked_by, ranking=ranking)
        figures = persona.policy.figures
        search = Search(
            tenant_id=tenant_id,
            persona_id=persona_id,
            asked=await self._prepared(question, vector),
            profile=ranking,
            filters=filters,
            at=at,
            start=start,
            limit=limit,
            facts_apart=facts_apart,
            by_spelling=not await self._embedder.embeds_reliably(question.text),
            threshold=figures.forget_fallback_threshold,
            reranked=self._reranker.depth if self._reranker else 0,
        )
        hits, fallback = await self._find(search)
        if not fallback:
            hits = await self._reranked(asked, hits)
        end, factor = start + limit, figures.fallback_confidence_factor
        page = [as_hit(hit, ranking, factor, explain=explain) for hit in hits[start:end]]
        next_cursor = encode_cursor(str(end)) if end < len(hits) else None
        return RecallResult(new_id(), persona_id, page, next_cursor, fallback)

    async def _prepared(self, question: Question, vector: Vector | None) -> Asked:
        """The question as it is compared with items; embedded, unless its vector is given."""
        if vector is None:
            vector = await self._embedder.embed_query(question.text)
        return Asked.of(question, vector, await self._embedder.lexicon())

    async def _find(self, search: Search) -> tuple[list[RankedHit], bool]:
        """The hits of all pages, and whether flagged ones are among them."""
        found = await self._hot_index.find(search)
        if found is None:
            async with self._graph_searches:
                found = await self._hot_index.find(search)  # it may be in memory by now
                if found is None:
                    found = await self._hot_index.find_anew(search)
                if found is None:
                    RECALLS.labels("graph").inc()
                    found = await self._graph_index.find(search, await self._embedder.lexicon())
                    self._hot_index.load_for(search)  # not before, or this one would wait for it
                    return found
        RECALLS.labels("memory").inc()
        return found

    async def _reranked(self, asked: str, hits: list[RankedHit]) -> list[RankedHit]:
        """The hits with the best of them in the order of the reranker, if there is one."""
        if self._reranker is None:
            return hits
        best = hits[: self._reranker.depth]
        # The place stands for the score: the best hit of each message comes first.
        texts = [(hit.column("text"), -float(place)) for place, hit in enumerate(best)]
        order = await rerank(asked, texts, self._reranker)
        return [best[place] for place in order] + hits[len(best) :]

    async def persona_profile(self, tenant_id: str, persona_id: str) -> PersonaProfile:
        """The profile of a persona, from the cache or read and cached."""
        cached = self._profiles.get((tenant_id, persona_id))
        if cached is not None:
            return cached
        invalidations = self._invalidations
        rows = await self._graph.read(
            "recall/search/read_profile", tenant_id=tenant_id, persona_id=persona_id
        )
        if not rows:
            raise PersonaNotFound(persona_id)
        (row,) = rows
        policy = as_policy(row).effective
        profile = PersonaProfile(row["name"], (*row["people"], row["name"]), policy)
        if invalidations == self._invalidations:  # otherwise the row may be outdated
            self._profiles[tenant_id, persona_id] = profile
        return profile

    @property
    def hot_size(self) -> int:
        """About how many bytes the personas in memory take."""
        return self._hot_index.size

    async def loaded(self) -> None:
        """Wait until every persona that was asked is in memory, if it fits."""
        await self._hot_index.settled()

    async def close(self) -> None:
        """Stop what runs in the background."""
        await self._hot_index.close()
        if self._reranker:
            self._reranker.close()

    def forget_profiles(self, tenant_id: str, persona_id: str | None = None) -> None:
        """Drop the cached profile of a persona, or of all personas of a tenant.

        Called by the process that changed it; in others the entries expire after some seconds.
        """
        self._invalidations += 1
        for key in list(self._profiles):
            if key[0] == tenant_id and persona_id in (None, key[1]):
                self._profiles.pop(key, None)


def profile_named(profile: str | RankingProfile) -> RankingProfile:
    return PROFILES[profile] if isinstance(profile, str) else profile


def page_start(cursor: str | None) -> int:
    """The index of the first hit of a page."""
    start = decode_place(cursor)
    if start >= MAX_PAGED:
        raise Invalid(f"A recall can be paged through up to {MAX_PAGED} hits.")
    return start


def as_hit(hit: RankedHit, profile: RankingProfile, factor: float, *, explain: bool) -> Hit:
    """The hit as it is returned. `factor` lowers the confidence of a flagged one."""
    table, row = hit.place

    def column(name: str) -> Any:
        return table.columns[name][row]

    is_flagged = bool(column("flagged"))
    return Hit(
        id=hit.id,
        memory_type=MemoryType(column("memory_type")),
        text=column("text"),
        score=round(hit.score, 4),
        confidence=round(hit.confidence * (factor if is_flagged else 1.0), 4),
        state=column("state"),
        about=column("about"),
        category=column("category"),
        said_at=moment(column("said_at")),
        conversation_id=column("conversation_id"),
        source_message_id=column("source_id"),
        passage=Passage.stored(column("passage")),
        valid_from=moment(column("valid_from")) if column("valid_from") else None,
        valid_to=moment(column("valid_to")) if column("valid_to") else None,
        token_estimate=column("token_estimate") or estimate_tokens(column("text")),
        relearnable=column("shape_memories") or 0,
        deprioritized=is_flagged,
        hint=HINT if is_flagged else None,
        explain=explain_score(hit, profile) if explain else None,
    )


def explain_score(hit: RankedHit, profile: RankingProfile) -> dict[str, Any]:
    """Every part of a score: signals with their weights, and what spread from other hits."""
    signals = hit.signals
    parts = {
        name: {
            "signal": round(signals[name], 4),
            "weight": weight,
            "part": round(signals[name] * weight, 4),
        }
        for name, weight in profile.weights.items()
    }
    return {
        "signals": parts,
        "spread": round(hit.spread, 4),
        "standing": round(hit.standing, 4),
        "weight_modifier": hit.column("weight_modifier"),
        "score": round(hit.score, 4),
    }
