"""Recall: searches a persona's memories for what answers a question, in one round trip."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from cachetools import TTLCache

from engine.embedding import Embedder, Lexicon, Vector, estimate_tokens, search_scope
from engine.errors import Invalid, PersonaNotFound
from engine.ids import new_id
from engine.models import EARLIEST, MemoryType, Passage
from engine.policy import Policy, as_policy
from engine.recall.fulltext import full_text_query
from engine.recall.questions import Question, parse_question
from engine.recall.ranking import PROFILES, RankedHit, RankingProfile, moment, score_hits
from engine.store import Graph, decode_place, encode_cursor

VECTOR_HITS = 75  # from the vector index
FULL_TEXT_HITS = 150  # from the full-text index
SPELLING_HITS = 300  # from each index, when only the spelling of a question can be compared
MAX_SCANNED = 10_000  # memories of a project or with tags that are compared one by one
RANKED_HITS = 80  # best hits of both indexes that are ranked by all signals
MAX_PAGED = 200  # hits that can be paged through; with narrow filters as many are ranked
MAX_FLAGGED = 10  # flagged hits returned when nothing else matches
# Weight of similarity against full text when the hits to rank are chosen.
VECTOR_WEIGHT, SPELLING_VECTOR_WEIGHT = 0.8, 0.05
LINK_SOURCES = 15  # best hits whose links are followed
LINKS_PER_HIT = 5  # links of one of them, other than sequences, that are followed a second step
PROFILE_CACHE_SIZE = 10_000  # personas
END_OF_TIME = datetime(9999, 1, 1, tzinfo=UTC)
DEFAULT_PROFILE = "woven"
HINT = "This was set aside on request; it may no longer hold."


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
    """Recalls from one graph. Caches each persona's profile for some seconds."""

    def __init__(
        self, graph: Graph, embedder: Embedder, *, seconds: float, profile: str = DEFAULT_PROFILE
    ) -> None:
        self._graph = graph
        self._embedder = embedder
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
        filters: Filters = Filters(),  # frozen
        as_of: datetime | None = None,
        asked_by: str | None = None,
        profile: str | None = None,
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
        ranking = PROFILES[profile or self.profile]
        at = as_of or now
        question = persona.parse(asked, now=at, asked_by=asked_by, ranking=ranking)
        search = Search(
            graph=self._graph,
            tenant_id=tenant_id,
            persona_id=persona_id,
            question=question,
            vector=await self._embedder.embed_query(question.text) if vector is None else vector,
            lexicon=await self._embedder.lexicon(),
            profile=ranking,
            filters=filters,
            at=at,
            limit=limit,
            facts_apart=facts_apart,
            by_spelling=not await self._embedder.embeds_reliably(question.text),
        )
        figures = persona.policy.figures
        hits, fallback = await search.find_with_fallback(figures.forget_fallback_threshold)
        end = start + limit
        factor = figures.fallback_confidence_factor
        page = [as_hit(hit, ranking, factor, explain=explain) for hit in hits[start:end]]
        next_cursor = encode_cursor(str(end)) if end < len(hits) else None
        return RecallResult(new_id(), persona_id, page, next_cursor, fallback)

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

    def forget_profiles(self, tenant_id: str, persona_id: str | None = None) -> None:
        """Drop the cached profile of a persona, or of all personas of a tenant.

        Called by the process that changed it; in others the entries expire after some seconds.
        """
        self._invalidations += 1
        for key in list(self._profiles):
            if key[0] == tenant_id and persona_id in (None, key[1]):
                self._profiles.pop(key, None)


@dataclass(frozen=True, slots=True)
class Search:
    """One question to one persona."""

    graph: Graph
    tenant_id: str
    persona_id: str
    question: Question
    vector: Vector
    lexicon: Lexicon
    profile: RankingProfile
    filters: Filters
    at: datetime
    limit: int  # of one page; all pages have the same hits
    facts_apart: bool
    by_spelling: bool  # the model has no words for the question

    async def find_with_fallback(self, threshold: float) -> tuple[list[RankedHit], bool]:
        """The hits, and whether flagged ones are among them.

        When no hit reaches the threshold of confidence, flagged memories that do come first. This
        is decided anew for each page, so that all pages show the same order.
        """
        hits = await self.find(flagged=False)
        if any(hit.confidence >= threshold for hit in hits):
            return hits[:MAX_PAGED], False
        flagged = [hit for hit in await self.find(flagged=True) if hit.confidence >= threshold]
        return [*flagged[:MAX_FLAGGED], *hits][:MAX_PAGED], bool(flagged)

    async def find(self, *, flagged: bool) -> list[RankedHit]:
        """The hits among flagged or among other memories, the best of each message first."""
        (answer,) = await self.graph.read(
            "recall/search/find_items", **self.parameters(flagged=flagged)
        )
        hits = score_hits(
            answer["found"],
            self.question,
            self.vector,
            self.lexicon,
            self.profile,
            self.at,
            by_spelling=self.by_spelling,
        )
        hits.spread_along(answer["links"], self.profile)
        return hits.ranked(facts_apart=self.facts_apart)

    def parameters(self, *, flagged: bool) -> dict[str, Any]:
        """The parameters of the search statement."""
        filters, question = self.filters, self.question
        max_ranked = MAX_PAGED if filters.narrow else RANKED_HITS
        vector_hits = SPELLING_HITS if self.by_spelling else VECTOR_HITS
        scope = search_scope(self.tenant_id, self.persona_id)
        return {
            "tenant_id": self.tenant_id,
            "persona_id": self.persona_id,
            "flagged": flagged,
            "states": ["active", "suppressed"] if flagged else filters.states,
            "types": [memory_type.value for memory_type in filters.types],
            "from_at": filters.from_at or EARLIEST,
            "to_at": min(filters.to_at or END_OF_TIME, self.at),
            "as_of": self.at,
            "categories": list(filters.categories) if filters.categories else None,
            "tags": list(filters.tags) if filters.tags else None,
            "project": filters.project,
            "embedding": self.vector,
            "query": full_text_query(scope, question.words, self.lexicon.positions),
            "people": list(question.people) if len(question.people) == 1 else [],
            "nearest": max(vector_hits, max_ranked) if filters.narrow else vector_hits,
            "matching": SPELLING_HITS if self.by_spelling else FULL_TEXT_HITS,
            "scanned": MAX_SCANNED,
            "by_meaning": SPELLING_VECTOR_WEIGHT if self.by_spelling else VECTOR_WEIGHT,
            "limit": max(SPELLING_HITS if self.by_spelling else max_ranked, self.limit),
            "sources": LINK_SOURCES if self.profile.spread else 0,
            "linked": LINKS_PER_HIT,
        }


def page_start(cursor: str | None) -> int:
    """The index of the first hit of a page."""
    start = decode_place(cursor)
    if start >= MAX_PAGED:
        raise Invalid(f"A recall can be paged through up to {MAX_PAGED} hits.")
    return start


def as_hit(hit: RankedHit, profile: RankingProfile, factor: float, *, explain: bool) -> Hit:
    """The hit as it is returned. `factor` lowers the confidence of a flagged one."""
    column = hit.column
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
        "weight_modifier": hit.column("weight_modifier"),
        "score": round(hit.score, 4),
    }
