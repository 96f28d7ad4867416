"""Recall: what a persona remembers when it is asked. One round trip, however much it knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from cachetools import TTLCache

from engine.embedding import Embedder, Lexicon, Vector, about_tokens
from engine.errors import Invalid, PersonaNotFound
from engine.facets import shelf
from engine.graph import Graph
from engine.models import MemoryType, new_id
from engine.paging import after, page
from engine.policy import Policy, as_layer, worked_out
from engine.questions import Question, understand
from engine.ranking import PROFILES, Find, Profile, moment, weigh

NEAREST = 75  # by meaning
MATCHING = 150  # by words
NARROW = 500  # of each, when most of them will be dropped by what no index can filter
FOUND = 80  # the most promising of them, that are looked at closely
MOST_PAGED = 200  # finds that can be paged through
SOURCES = 15  # the most promising of all, whose links are followed
LINKED = 5  # links of one of them, sequences aside, that lead further
CARDS = 10_000  # personas that a process keeps at hand
EVER = datetime(9999, 1, 1, tzinfo=UTC)
NEVER = datetime(1, 1, 2, tzinfo=UTC)
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
    valid_from: datetime | None
    valid_to: datetime | None
    token_estimate: int
    deprioritized: bool = False  # somebody asked to forget it; only when nothing else came up
    hint: str | None = None
    explain: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Recalled:
    """What came to mind."""

    recall_id: str
    persona_id: str
    hits: list[Hit]
    next_cursor: str | None
    fallback: bool = False  # nothing but what was set aside came up


@dataclass(frozen=True, slots=True)
class Card:
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
        self._cards: TTLCache[tuple[str, str], Card] = TTLCache(CARDS, seconds)
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
        filters: Filters = Filters(),  # noqa: B008  # frozen
        as_of: datetime | None = None,
        asked_by: str | None = None,
        profile: str | None = None,
        explain: bool = False,
        vector: Vector | None = None,
        facts_apart: bool = False,
    ) -> Recalled:
        """What a persona remembers of what it is asked, the best first.

        With `as_of`, what it would have said then. `vector` saves embedding the question. Of what
        was said in one turn one thing is told; with `facts_apart`, a fact drawn from it too.
        """
        start = offset(cursor)
        if start + limit > MOST_PAGED:
            raise Invalid(f"A recall can be paged through up to {MOST_PAGED} hits.")
        card = await self.card(tenant_id, persona_id)
        weighing = PROFILES[profile or self.profile]
        at = as_of or now
        question = understand(asked, people=card.people, now=at, i=asked_by, you=card.name)
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
        )
        finds = await search.find(flagged=False)
        figures = card.policy.figures
        threshold = figures.fallback_threshold
        fallback = False
        if start == 0 and not any(it.confidence >= threshold for it in finds):
            set_aside = [it for it in await search.find(flagged=True) if it.confidence >= threshold]
            fallback = bool(set_aside)
            finds = [*set_aside[:limit], *finds]
        told = [
            as_hit(find, weighing, figures.fallback_factor, explain=explain)
            for find in finds[start : start + limit]
        ]
        more = start + limit < min(len(finds), MOST_PAGED)
        return Recalled(
            recall_id=new_id(),
            persona_id=persona_id,
            hits=told,
            next_cursor=page([start + limit] * (2 if more else 1), 1, str).next_cursor,
            fallback=fallback,
        )

    async def card(self, tenant_id: str, persona_id: str) -> Card:
        known = self._cards.get((tenant_id, persona_id))
        if known is None:
            found = await self._graph.read(
                "recall/read_card", tenant_id=tenant_id, persona_id=persona_id
            )
            if not found:
                raise PersonaNotFound(persona_id)
            (row,) = found
            layers = (as_layer(row[name]) for name in ("tenant", "persona"))
            known = Card(row["name"], (*row["people"], row["name"]), worked_out(*layers))
            self._cards[tenant_id, persona_id] = known
        return known


@dataclass(frozen=True, slots=True)
class Search:
    """One question, looked up in one persona."""

    graph: Graph
    whose: Mapping[str, str]
    question: Question
    vector: Vector
    lexicon: Lexicon
    profile: Profile
    filters: Filters
    at: datetime
    limit: int  # of one page; what is found is the same for all of them
    facts_apart: bool

    async def find(self, *, flagged: bool) -> list[Find]:
        """What answers the question, the best first, one find of each thing that was said."""
        filters = self.filters
        (answer,) = await self.graph.read(
            "recall/find",
            **self.whose,
            flagged=flagged,
            states=["active", "suppressed"] if flagged else filters.states,
            types=[kind.value for kind in filters.types],
            from_at=filters.from_at or NEVER,
            to_at=min(filters.to_at or EVER, self.at),
            as_of=self.at,
            categories=list(filters.categories) if filters.categories else None,
            tags=list(filters.tags) if filters.tags else None,
            project=filters.project,
            embedding=self.vector,
            query=as_lucene(shelf(**self.whose), self.question.words),
            people=list(self.question.people) if len(self.question.people) == 1 else [],
            nearest=NARROW if filters.narrow else NEAREST,
            matching=NARROW if filters.narrow else MATCHING,
            limit=max(FOUND, self.limit),
            sources=SOURCES if self.profile.spread else 0,
            linked=LINKED,
        )
        weighed = weigh(
            answer["found"], self.question, self.vector, self.lexicon, self.profile, self.at
        )
        weighed.lend(answer["links"], self.profile)
        return weighed.ranked(facts_apart=self.facts_apart)


def as_lucene(on: str, words: Sequence[str]) -> str:
    """Any of the words, on this shelf alone, which itself counts for nothing."""
    told = " ".join(word for word in words if word.isalnum()) or "nothing"
    return f"+shelf:{on}^0 +text:({told})"


def offset(cursor: str | None) -> int:
    told = after(cursor)
    if told and not told.isdecimal():
        raise Invalid("The cursor is not one that a listing gave out.")
    return int(told or 0)


def as_hit(find: Find, profile: Profile, factor: float, *, explain: bool) -> Hit:
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
        valid_from=moment(told("valid_from")) if told("valid_from") else None,
        valid_to=moment(told("valid_to")) if told("valid_to") else None,
        token_estimate=told("token_estimate") or about_tokens(told("text")),
        deprioritized=set_aside,
        hint=HINT if set_aside else None,
        explain=explained(find, profile) if explain else None,
    )


def explained(find: Find, profile: Profile) -> dict[str, Any]:
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
