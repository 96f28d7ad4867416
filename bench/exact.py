"""An exact scan: every item of a persona scored one by one, by the formulas and nothing else.

Slow and plain, to compare the indexes with. It shares with them how a question is parsed and
embedded and the weights, but none of the code that finds, keeps, scores or orders items.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from bench.private import bare
from engine.embedding import Embedder, quantized
from engine.recall import PROFILES, Recall
from engine.store import Graph
from engine.text import question_terms

PROFILE = PROFILES["woven"]
HITS, SPREADING, LINKS_PER_HIT = 10, 10, 5
SHAPE_PLACES, UNCLEAR_LEAD, MAX_BEHIND = 3, 0.5, 0.75
K1, B, MEAN_TERMS, FULL_LENGTH = 1.2, 0.75, 20, 120
DAY = 86_400.0  # seconds

ITEMS = """
MATCH (item:Candidate|Memory {tenant_id: $tenant_id, persona_id: $persona_id})
WHERE item.state IN ['active', 'pending'] AND NOT item.flagged
RETURN item {.*} AS item
"""
LINKS = """
MATCH (a:Memory {tenant_id: $tenant_id, persona_id: $persona_id})
  -[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(b:Memory)
WHERE NOT a:ForgottenShape AND NOT b:ForgottenShape
RETURN a.id AS a, b.id AS b, type(link) AS type, link.strength * link.weight_modifier AS strength
"""


@dataclass(frozen=True)
class StoredItem:
    """One item, unpacked by hand."""

    properties: Mapping[str, Any]
    vectors: np.ndarray[Any, np.dtype[np.float64]]
    has_context: bool
    words: frozenset[int]
    answered_words: frozenset[int]
    terms: Mapping[int, int]  # how often each occurs

    @classmethod
    def read(cls, properties: Mapping[str, Any], dimensions: int) -> "StoredItem":
        packed = bytes(properties["packed_vectors"])
        _, context, words, answered, terms = np.frombuffer(packed[:10], "<u2").tolist()
        place, parts = 10, []
        for count, kind in ((words, "<u2"), (answered, "<u2"), (terms, "<u4"), (terms, "u1")):
            size = count * np.dtype(kind).itemsize
            parts.append(np.frombuffer(packed[place : place + size], kind).tolist())
            place += size
        vectors = np.frombuffer(packed[place:], np.int8).reshape(-1, dimensions).astype(float)
        return cls(
            properties,
            vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
            bool(context),
            frozenset(parts[0]),
            frozenset(parts[1]),
            dict(zip(parts[2], parts[3], strict=True)),
        )


@dataclass(frozen=True)
class PlainQuestion:
    """A question, compared with one item at a time."""

    question: Any
    vector: np.ndarray[Any, np.dtype[np.float64]]
    rarity: Mapping[str, float]  # by word
    similar: Mapping[str, Mapping[int, float]]  # by known word: what each similar one counts
    terms: Mapping[int, float]  # by term: how rare it is
    now: datetime

    @classmethod
    async def ask(cls, embedder: Embedder, question: Any, now: datetime) -> "PlainQuestion":
        lexicon = await embedder.lexicon()
        rounded = np.frombuffer(quantized(await embedder.embed_query(question.text)), np.int8)
        vector = rounded.astype(float)
        count = len(lexicon.positions)
        rarity = {word: math.log(2 + lexicon.positions.get(word, count)) for word in question.words}
        similar = {}
        for word in question.words:
            if word in lexicon.positions:
                positions, cosines = lexicon.neighbors(word)
                squares = cosines.astype(float) ** 2
                similar[word] = dict(zip(positions.tolist(), squares.tolist(), strict=True))
        terms = {
            int(term): rarity[word] for word in question.words for term in question_terms([word])
        }
        return cls(question, vector / np.linalg.norm(vector), rarity, similar, terms, now)

    def word_match(self, words: frozenset[int]) -> float:
        total = sum(self.rarity[word] for word in self.similar)
        matches = (
            self.rarity[word] * max((near.get(position, 0.0) for position in words), default=0.0)
            for word, near in self.similar.items()
        )
        return sum(matches) / total if total else 0.0

    def term_match(self, counts: Mapping[int, int]) -> float:
        norm = K1 * (1 - B + B * sum(counts.values()) / MEAN_TERMS)
        score = sum(
            weight * counts[term] * (K1 + 1) / (counts[term] + norm)
            for term, weight in self.terms.items()
            if term in counts
        )
        return score / (sum(self.terms.values()) * (K1 + 1)) if self.terms else 0.0

    def may_return(self, kept: Mapping[str, Any]) -> bool:
        """Whether an item was said by now and holds, or is the past of a fact that is asked for."""
        if kept["said_at"] > self.now:
            return False
        has_ended = kept.get("valid_to") and kept["valid_to"] <= self.now
        return not has_ended or (self.question.asks_past and kept.get("fact") == self.question.fact)

    def length(self, kept: Mapping[str, Any]) -> float:
        if kept.get("category") in ("instruction", "preference"):
            return 1.0
        return min(1.0, math.log(1 + kept["token_estimate"]) / math.log(1 + FULL_LENGTH))

    def signals(self, item: StoredItem) -> dict[str, float]:
        kept, question = item.properties, self.question
        cosines = item.vectors @ self.vector
        in_context = cosines[1] if item.has_context else cosines[0]
        meaning = max(cosines[0], *cosines[1 + item.has_context :], -1.0)
        about, people = kept.get("about"), question.people
        said_at = kept["said_at"]
        days = (self.now - said_at).total_seconds() / DAY
        return {
            "near": max(meaning, in_context),
            "meaning": meaning,
            "in_context": in_context,
            "full_text": self.term_match(item.terms),
            "words": self.word_match(item.words),
            "answered_question": self.word_match(item.answered_words),
            "who": float(len(people) == 1 and about in people),
            "asked_fact": float(bool(question.fact) and kept.get("fact") == question.fact),
            "when": max((fit(period, said_at) for period in question.periods), default=0.0),
            "newest": math.exp(-max(days, 0.0) / 90) if question.wants_newest else 0.0,
            "persona_said": float(about == question.persona and not question.asks_persona),
            "length": self.length(kept),
            "importance": (kept.get("importance") or 5) / 5 - 1,
            "recency": math.exp(-max(days, 0.0) / 30),
            "pinned": float(kept.get("pinned") or False),
            "access": min(1.0, math.log1p(kept.get("access_count") or 0) / math.log(100)),
        }


class ExactScan:
    """Scans the personas of one tenant; what it has read once it keeps."""

    def __init__(self, graph: Graph, embedder: Embedder, tenant_id: str) -> None:
        self._graph, self._embedder, self._tenant_id = graph, embedder, tenant_id
        self._recall = Recall(graph, embedder, seconds=600)
        self._items: dict[str, list[StoredItem]] = {}
        self._links: dict[str, dict[str, list[tuple[str, str, float]]]] = {}

    async def hits(
        self, persona_id: str, asked: str, *, now: datetime, asked_by: str | None = None
    ) -> list[str]:
        """The ids of the ten best hits, the best first."""
        if persona_id not in self._items:
            await self._read(persona_id)
        persona = await self._recall.persona_profile(self._tenant_id, persona_id)
        question = persona.parse(asked, now=now, asked_by=asked_by, ranking=PROFILE)
        plain = await PlainQuestion.ask(self._embedder, question, now)
        scores: dict[str, float] = {}
        standing: dict[str, float] = {}
        by_id: dict[str, StoredItem] = {}
        for item in self._items[persona_id]:
            kept = item.properties
            if not plain.may_return(kept):
                continue
            id_, signals = kept["id"], plain.signals(item)
            by_id[id_] = item
            scores[id_] = sum(weight * signals[name] for name, weight in PROFILE.weights.items())
            if question.looks_forward and kept.get("category") in ("instruction", "preference"):
                standing[id_] = PROFILE.standing * max(signals["near"], 0.0)
        return self._ordered(persona_id, by_id, scores, standing)

    def _ordered(
        self,
        persona_id: str,
        by_id: Mapping[str, StoredItem],
        scores: Mapping[str, float],
        standing: Mapping[str, float],
    ) -> list[str]:
        def weight(id_: str) -> float:
            given = by_id[id_].properties.get("weight_modifier")
            return 1.0 if given is None else float(given)

        def best_of_turns(totals: Mapping[str, float]) -> list[str]:
            best: dict[str, str] = {}
            for id_ in sorted(totals, key=lambda id_: (-totals[id_], id_)):
                best.setdefault(by_id[id_].properties.get("source_id") or id_, id_)
            others = [
                *sorted(totals.keys() - {*best.values()}, key=lambda id_: (-totals[id_], id_))
            ]
            return [*best.values(), *others]

        shapes = {
            id_: score * weight(id_)
            for id_, score in scores.items()
            if is_shape(by_id[id_].properties)
        }
        scores = {id_: score for id_, score in scores.items() if id_ not in shapes}
        first = {id_: score * weight(id_) for id_, score in scores.items()}
        turns = {by_id[id_].properties.get("source_id") or id_ for id_ in first}
        leaders = best_of_turns(first)[: min(SPREADING + 1, len(turns))]
        spread = self._spread(persona_id, [(id_, first[id_]) for id_ in leaders])
        totals = {
            id_: (score + spread[id_] + standing.get(id_, 0.0)) * weight(id_)
            for id_, score in scores.items()
        }
        return with_shapes(best_of_turns(totals), totals, shapes)[:HITS]

    def _spread(self, persona_id: str, leaders: list[tuple[str, float]]) -> dict[str, float]:
        """What the leads of the best, all but the last, pass along their links."""
        spread: dict[str, float] = defaultdict(float)
        links = self._links[persona_id]
        for source, score in leaders[:SPREADING]:
            lead = score - leaders[-1][1]
            neighbors = links.get(source, [])
            others = sorted(
                (link for link in neighbors if link[1] != "PRECEDES"),
                key=lambda link: (-link[2], link[0]),
            )
            ways = [(id_, kind, [strength]) for id_, kind, strength in others[:LINKS_PER_HIT]]
            for id_, kind, strength in neighbors:
                if kind == "PRECEDES":
                    ways.append((id_, kind, [strength]))
                    ways += [
                        (second, kind, [strength, further])
                        for second, other_kind, further in links.get(id_, [])
                        if other_kind == "PRECEDES" and second != source
                    ]
            for id_, kind, strengths in ways:
                rate = PROFILE.spread.get(kind, PROFILE.spread["others"])
                amount = lead * math.prod(min(1.0, rate * strength) for strength in strengths)
                spread[id_] = max(spread[id_], amount)
        return spread

    async def _read(self, persona_id: str) -> None:
        where = {"tenant_id": self._tenant_id, "persona_id": persona_id}
        rows = await bare(self._graph, ITEMS, **where)
        size = self._embedder.dimensions
        self._items[persona_id] = [StoredItem.read(row["item"], size) for row in rows]
        links: dict[str, list[tuple[str, str, float]]] = defaultdict(list)
        for row in await bare(self._graph, LINKS, **where):
            links[row["a"]].append((row["b"], row["type"], row["strength"]))
        self._links[persona_id] = links


def is_shape(kept: Mapping[str, Any]) -> bool:
    return bool(kept["memory_type"] == "forgotten_shape")


def with_shapes(
    living: list[str], totals: Mapping[str, float], shapes: Mapping[str, float]
) -> list[str]:
    """One of the ten places is for a shape; two more where what lives gives no clear answer.

    The second and third shape have to be near the hit whose place they take.
    """
    ordered = sorted(shapes, key=lambda id_: (-shapes[id_], id_))
    if not ordered:
        return living
    places = min(SHAPE_PLACES, len(ordered))
    if len(living) >= HITS:
        if totals[living[0]] - totals[living[HITS - 1]] >= UNCLEAR_LEAD:
            places = 1
        for place in range(1, places):
            if totals[living[HITS - 1 - place]] - shapes[ordered[place]] > MAX_BEHIND:
                places = place
                break
    kept = HITS - places
    return [*living[:kept], *ordered[:places], *living[kept:], *ordered[places:]]


def fit(period: Any, said_at: datetime) -> float:
    """How well a time fits a period that a question names."""
    if said_at < period.start:
        return 0.0
    days_late = (said_at - period.end).total_seconds() / DAY
    return 1.0 if days_late < 0 else 0.7 if days_late < 7 else 0.3 if days_late < 31 else 0.0
