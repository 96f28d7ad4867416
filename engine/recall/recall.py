"""Recall: what a persona remembers when it is asked. One round trip, however much it knows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from cachetools import TTLCache

from engine.embedding import Embedder, Lexicon, Vector, estimate_tokens, search_scope
from engine.errors import Invalid, PersonaNotFound
from engine.ids import new_id
from engine.models import EARLIEST, MemoryType
from engine.policy import Policy, as_policy
from engine.recall.fulltext import full_text_query
from engine.recall.questions import Question, parse_question
from engine.recall.ranking import PROFILES, RankedHit, RankingProfile, moment, score_hits
from engine.store import Graph, decode_place, encode_cursor

NEAREST = 75  # by meaning
MATCHING = 150  # by words
SCANNED = 10_000  # of a project or under tags, that are held against the question one by one
SPELLED = 300  # of each, when a question can only be answered by its spelling
FOUND = 80  # the most promising of them, that are looked at closely
MOST_PAGED = 200  # finds that can be paged through; of a narrow choice as many are looked at
SET_ASIDE = 10  # flagged finds that come back at most, when nothing else is near
BY_MEANING, BY_SPELLING = 0.8, 0.05  # what nearness in meaning counts for being looked at closely
SOURCES = 15  # the most promising of all, whose links are followed
LINKED = 5  # links of one of them, sequences aside, that lead further
CARDS = 10_000  # personas that a process keeps at hand
EVER = datetime(9999, 1, 1, tzinfo=UTC)
DEFAULT_PROFILE = "woven"
HINT = "This was set aside on request; it may no longer hold."


@dataclass(frozen=True, slots=True)
class Filters:
    """What may be found."""

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
    """One thing that comes to mind."""

    id: str
    memory_type: MemoryType
    text: str
    score: float
    confidence: float  # how near it is to the question, 0 to 1
    state: str  # active, archived, or pending when it waits for the night
    about: str | None
    category: str | None
    said_at: datetime
    conversation_id: str | None
    source_message_id: str | None  # the first it was drawn from
    valid_from: datetime | None
    valid_to: datetime | None
    token_estimate: int
    deprioritized: bool = False  # somebody asked to forget it; only when nothing else came up
    hint: str | None = None
    explain: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RecallResult:
    """What came to mind."""

    recall_id: str
    persona_id: str
    hits: list[Hit]
    next_cursor: str | None
    fallback: bool = False  # nothing but what was set aside came up


@dataclass(frozen=True, slots=True)
class PersonaProfile:
    """What a recall has to know of a persona."""

    name: str
    people: tuple[str, ...]
    policy: Policy


class Recall:
    """Recalls of one graph's personas. Keeps at hand, for some seconds, whom each of them knows."""

    def __init__(
        self, graph: Graph, embedder: Embedder, *, seconds: float, profile: str = DEFAULT_PROFILE
    ) -> None:
        self._graph = graph
        self._embedder = embedder
        self._cards: TTLCache[tuple[str, str], PersonaProfile] = TTLCache(CARDS, seconds)
        self._changes = 0  # of which this process knows
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
        """What a persona remembers of what it is asked, the best first.

        With `as_of`, what it would have said then. `vector` saves embedding the question. Of what
        was drawn from one turn the best comes first, and the others after the best of all turns;
        with `facts_apart`, only the best fact of each turn and the best of what else it gave.
        """
        start = decode_place(cursor)
        if start >= MOST_PAGED:
            raise Invalid(f"A recall can be paged through up to {MOST_PAGED} hits.")
        card = await self.card(tenant_id, persona_id)
        weighing = PROFILES[profile or self.profile]
        at = as_of or now
        question = parse_question(asked, people=card.people, now=at, i=asked_by, you=card.name)
        if not weighing.names_apart:
            question = replace(question, text=asked)
        if vector is None:
            vector = await self._embedder.embed_query(question.text)
        search = Search(
            graph=self._graph,
            whose={"tenant_id": tenant_id, "persona_id": persona_id},
            question=question,
            vector=vector,
            lexicon=await self._embedder.lexicon(),
            profile=weighing,
            filters=filters,
            at=at,
            limit=limit,
            facts_apart=facts_apart,
            by_spelling=not await self._embedder.tells_apart(question.text),
        )
        finds = await search.find(flagged=False)
        figures = card.policy.figures
        threshold = figures.forget_fallback_threshold
        fallback = False
        # On every page, so that each goes on where the one before it ended.
        if not any(find.confidence >= threshold for find in finds):
            flagged = await search.find(flagged=True)
            set_aside = [find for find in flagged if find.confidence >= threshold]
            fallback = bool(set_aside)
            finds = [*set_aside[:SET_ASIDE], *finds]
        finds = finds[:MOST_PAGED]
        told = [
            as_hit(find, weighing, figures.fallback_confidence_factor, explain=explain)
            for find in finds[start : start + limit]
        ]
        more = start + limit < len(finds)
        return RecallResult(
            recall_id=new_id(),
            persona_id=persona_id,
            hits=told,
            next_cursor=encode_cursor(str(start + limit)) if more else None,
            fallback=fallback,
        )

    async def card(self, tenant_id: str, persona_id: str) -> PersonaProfile:
        known = self._cards.get((tenant_id, persona_id))
        if known is None:
            changes = self._changes
            found = await self._graph.read(
                "recall/search/read_profile", tenant_id=tenant_id, persona_id=persona_id
            )
            if not found:
                raise PersonaNotFound(persona_id)
            (row,) = found
            policy = as_policy(row).effective
            known = PersonaProfile(row["name"], (*row["people"], row["name"]), policy)
            if changes == self._changes:  # otherwise what was read may be from before
                self._cards[tenant_id, persona_id] = known
        return known

    def forget_cards(self, tenant_id: str, persona_id: str | None = None) -> None:
        """Read anew what a recall has to know of a persona, or of all personas of a tenant.

        Called by the process that changed it; others notice within the seconds a card is kept.
        """
        self._changes += 1
        for whose in list(self._cards):
            if whose[0] == tenant_id and persona_id in (None, whose[1]):
                self._cards.pop(whose, None)


@dataclass(frozen=True, slots=True)
class Search:
    """One question, looked up in one persona."""

    graph: Graph
    whose: Mapping[str, str]
    question: Question
    vector: Vector
    lexicon: Lexicon
    profile: RankingProfile
    filters: Filters
    at: datetime
    limit: int  # of one page; what is found is the same for all of them
    facts_apart: bool
    by_spelling: bool  # the model has no words for the question

    async def find(self, *, flagged: bool) -> list[RankedHit]:
        """What answers the question, the best of each turn first."""
        filters = self.filters
        most = MOST_PAGED if filters.narrow else FOUND
        nearest, matching = (SPELLED, SPELLED) if self.by_spelling else (NEAREST, MATCHING)
        (answer,) = await self.graph.read(
            "recall/search/find_items",
            **self.whose,
            flagged=flagged,
            states=["active", "suppressed"] if flagged else filters.states,
            types=[kind.value for kind in filters.types],
            from_at=filters.from_at or EARLIEST,
            to_at=min(filters.to_at or EVER, self.at),
            as_of=self.at,
            categories=list(filters.categories) if filters.categories else None,
            tags=list(filters.tags) if filters.tags else None,
            project=filters.project,
            embedding=self.vector,
            query=full_text_query(
                search_scope(**self.whose), self.question.words, self.lexicon.places
            ),
            people=list(self.question.people) if len(self.question.people) == 1 else [],
            nearest=max(nearest, most) if filters.narrow else nearest,
            matching=matching,
            scanned=SCANNED,
            by_meaning=BY_SPELLING if self.by_spelling else BY_MEANING,
            limit=max(SPELLED if self.by_spelling else most, self.limit),
            sources=SOURCES if self.profile.spread else 0,
            linked=LINKED,
        )
        weighed = score_hits(
            answer["found"],
            self.question,
            self.vector,
            self.lexicon,
            self.profile,
            self.at,
            by_spelling=self.by_spelling,
        )
        weighed.lend(answer["links"], self.profile)
        return weighed.ranked(facts_apart=self.facts_apart)


def as_hit(find: RankedHit, profile: RankingProfile, factor: float, *, explain: bool) -> Hit:
    told = find.told
    set_aside = bool(told("flagged"))
    return Hit(
        id=find.id,
        memory_type=MemoryType(told("memory_type")),
        text=told("text"),
        score=round(find.score, 4),
        confidence=round(find.confidence * (factor if set_aside else 1.0), 4),
        state=told("state"),
        about=told("about"),
        category=told("category"),
        said_at=moment(told("said_at")),
        conversation_id=told("conversation_id"),
        source_message_id=told("source_id"),
        valid_from=moment(told("valid_from")) if told("valid_from") else None,
        valid_to=moment(told("valid_to")) if told("valid_to") else None,
        token_estimate=told("token_estimate") or estimate_tokens(told("text")),
        deprioritized=set_aside,
        hint=HINT if set_aside else None,
        explain=explained(find, profile) if explain else None,
    )


def explained(find: RankedHit, profile: RankingProfile) -> dict[str, Any]:
    """Every part of a score: what was seen, what it weighs, and what others lent."""
    signals = find.signals
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
        "lent": round(find.lent, 4),
        "weight_modifier": find.told("weight_modifier"),
        "score": round(find.score, 4),
    }
