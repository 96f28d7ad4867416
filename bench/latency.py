"""What a recall costs beside the bare searches it is made of.

Memories of a hundred personas, with vectors that cluster by topics as real ones do, words, and
links: each precedes the next, and is related to others of its topic. And one persona more, of a
hundred memories, however many there are. All is loaded before it is indexed. Each question is asked
in turns as a recall and as the floor, in the same run: `RETURN 1`, and a bare filtered vector
search and a bare full-text query after one another, of 50 rows each. Then many clients ask through
the API.
"""

import argparse
import asyncio
import itertools
import math
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from neo4j.vector import Vector as Packed
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.private import bare, private_stack
from engine.access import Persona, Tone, add_persona
from engine.embedding import (
    Embedder,
    MemoryVectors,
    Vector,
    claim_model,
    normalized,
    open_embedder,
    search_scope,
)
from engine.ids import id_from
from engine.recall import Recall, full_text_query
from engine.settings import Settings
from engine.store import Graph

TENANT = "demo"
NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)
PERSONAS = 100
PROBE, PROBE_SIZE = "probe", 100
TOPICS, TOPICS_EACH = 200, 20  # in the world, and of one persona
RELATED = 3  # to so many that came next of its topic
NOISE = 0.75  # of a vector's length: near memories have a cosine of about 0.6, as in real talk
AT_ONCE = 1000
RUNS = 300  # questions to all personas, and as many to the small one
WARM = 5  # one of so many questions only warms up
CLIENTS, SECONDS = 32, 60
GOALS = {"p50": 1.5, "p95": 2.5, "growth": 1.5, "exact": 0.95}

LOAD = """
UNWIND $rows AS row
CREATE (memory:Memory:Episodic)
SET memory += row.kept, memory.embedding = toFloatList(row.embedding),
  memory.said_at = $now - duration({minutes: row.minutes})
"""
LINK = """
UNWIND $rows AS row
MATCH (a:Memory {tenant_id: $tenant_id, id: row[0]})
MATCH (b:Memory {tenant_id: $tenant_id, id: row[1]})
CREATE (a)-[:$(row[2]) {strength: 0.5, weight_modifier: 1.0, coactivations: 0}]->(b)
"""
NO_NIGHTS = """
MATCH (persona:Persona {tenant_id: $tenant_id})
SET persona.next_night_at = datetime('9999-01-01T00:00Z')
"""
NEAREST = """
MATCH (it:Candidate|Memory)
  SEARCH it IN (
    VECTOR INDEX meaning FOR $embedding
    WHERE it.tenant_id = $tenant_id AND it.persona_id = $persona_id AND it.flagged = false
    LIMIT $limit
  ) SCORE AS score
RETURN it.id AS id, score
"""
MATCHING = """
CALL db.index.fulltext.queryNodes('words', $query, {limit: $limit}) YIELD node, score
RETURN node.id AS id, score
"""


@dataclass
class World:
    """What is loaded: the same for the same size."""

    words: list[str]  # of the model, by their places
    dimensions: int
    chance: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def __post_init__(self) -> None:
        self.centres = self.chance.normal(size=(TOPICS, self.dimensions))
        self.centres /= np.linalg.norm(self.centres, axis=1, keepdims=True)
        self.topics = self.chance.integers(len(self.words), size=(TOPICS, 60))

    def near(self, topic: int) -> Vector:
        noise = self.chance.normal(size=self.dimensions)
        return normalized(self.centres[topic] + NOISE * noise / np.linalg.norm(noise))

    def of_persona(self, count: int) -> list[int]:
        """What each of its memories is about."""
        some = self.chance.choice(TOPICS, TOPICS_EACH, replace=False)
        return [int(it) for it in self.chance.choice(some, count)]

    def memory(self, persona_id: str, place: int, topic: int) -> dict[str, Any]:
        places = self.chance.choice(self.topics[topic], 12)
        own, beside, *parts = (self.near(topic) for _ in range(4))
        packed_vectors = MemoryVectors(
            own, beside, tuple(parts), tuple(places[:8]), tuple(places[8:])
        )
        return {
            "embedding": Packed.from_numpy(own),
            "minutes": 2 * place,
            "kept": {
                "tenant_id": TENANT,
                "id": id_from(persona_id, str(place)),
                "persona_id": persona_id,
                "memory_type": "episodic",
                "state": "active",
                "flagged": False,
                "minimized": False,
                "category": "none",
                "text": " ".join(self.words[it] for it in places),
                "content": "{}",
                "about": "Sam",
                "conversation_id": persona_id,
                "search_scope": search_scope(TENANT, persona_id),
                "packed_vectors": packed_vectors.pack(),
                "token_estimate": 14,
                "importance": 5,
                "salience": 0.5,
                "pinned": False,
                "access_count": 0,
                "weight_modifier": 1.0,
            },
        }


def links(persona_id: str, topics: Sequence[int]) -> Iterator[list[str]]:
    ids = [id_from(persona_id, str(place)) for place in range(len(topics))]
    for one, following in itertools.pairwise(ids):
        yield [one, following, "PRECEDES"]
    before: dict[int, list[str]] = {}
    for id_, topic in zip(ids, topics, strict=True):
        told = before.setdefault(topic, [])
        for other in told[-RELATED:]:
            yield [other, id_, "RELATED"]
        told.append(id_)


@dataclass
class Question:
    persona_id: str
    text: str
    vector: Vector


async def load(
    graph: Graph, embedder: Embedder, world: World, size: int, runs: int
) -> list[Question]:
    """Load, then index. Returns questions, half of them to the small persona."""
    for index in ("meaning", "words"):
        await bare(graph, f"DROP INDEX {index} IF EXISTS")
    personas = {f"p{n:03}": size // PERSONAS for n in range(PERSONAS)} | {PROBE: PROBE_SIZE}
    asked = []
    for persona_id, count in track(personas.items(), f"Loading {size}"):
        persona = Persona(persona_id, "Ada", Tone.PLAIN, "UTC", NOW, NOW)
        await add_persona(graph, TENANT, persona)
        topics = world.of_persona(count)
        rows = [world.memory(persona_id, place, topic) for place, topic in enumerate(topics)]
        for some in chunks(rows):
            await bare(graph, LOAD, rows=some, now=NOW)
        for some in chunks(list(links(persona_id, topics))):
            await bare(graph, LINK, rows=some, tenant_id=TENANT)
        take = runs if persona_id == PROBE else math.ceil(runs / PERSONAS)
        for place in world.chance.integers(count, size=take):
            words = rows[place]["kept"]["text"].split()[:4]
            noise = world.chance.normal(size=world.dimensions)
            about = np.array(rows[place]["embedding"].to_numpy())
            vector = normalized(about + 0.5 * noise / np.linalg.norm(noise))
            asked.append(Question(persona_id, f"What about {' '.join(words)}?", vector))
    await bare(graph, NO_NIGHTS, tenant_id=TENANT)
    await claim_model(graph, embedder)
    await bare(graph, "CALL db.awaitIndexes(7200)")
    return asked


def chunks(rows: Sequence[Any]) -> Iterator[list[Any]]:
    for at in range(0, len(rows), AT_ONCE):
        yield list(rows[at : at + AT_ONCE])


class Stopwatch:
    """How long each of some things took, in milliseconds."""

    def __init__(self) -> None:
        self.took: dict[str, list[float]] = {}

    async def time(self, name: str, *doing: Any) -> list[Any]:
        start = time.perf_counter()
        done = [await it for it in doing]
        self.took.setdefault(name, []).append(1000 * (time.perf_counter() - start))
        return done

    def at(self, name: str, percent: float) -> float:
        return float(np.percentile(self.took[name], percent))


async def compare(
    graph: Graph, recall: Recall, asked: Sequence[Question], *, embed: bool
) -> Stopwatch:
    """Ask each question as a recall and as the floor, in turns."""
    watch = Stopwatch()
    for place, it in enumerate(asked):
        if place == len(asked) // WARM:
            watch = Stopwatch()
        words = it.text[11:-1].split()
        where = {"tenant_id": TENANT, "persona_id": it.persona_id, "limit": 50}
        query = full_text_query(search_scope(TENANT, it.persona_id), words, {})
        packed = Packed.from_numpy(it.vector)
        await watch.time("RETURN 1", bare(graph, "RETURN 1"))
        await watch.time(
            "bare vector search, bare full text: the floor",
            bare(graph, NEAREST, embedding=packed, **where),
            bare(graph, MATCHING, query=query, limit=50),
        )
        ask = recall.recall(TENANT, it.persona_id, it.text, now=NOW, vector=it.vector)
        await watch.time("recall", ask)
        if embed:
            text = f"{it.text} {place}"  # asked for the first time
            ask = recall.recall(TENANT, it.persona_id, text, now=NOW)
            await watch.time("recall, with embedding the question", ask)
    return watch


async def found_of_exact(graph: Graph, asked: Sequence[Question]) -> float:
    """How many of the exact ten nearest in the small persona the index finds."""
    rows = await bare(
        graph,
        "MATCH (m:Memory {tenant_id: $t, persona_id: $p}) RETURN m.id AS id, m.embedding AS vector",
        t=TENANT,
        p=PROBE,
    )
    vectors = np.array([row["vector"] for row in rows])
    shares = []
    for it in asked[:100]:
        exact = {rows[place]["id"] for place in np.argsort(-(vectors @ it.vector))[:10]}
        told = await bare(
            graph,
            NEAREST,
            embedding=Packed.from_numpy(it.vector),
            tenant_id=TENANT,
            persona_id=PROBE,
            limit=10,
        )
        shares.append(len(exact & {row["id"] for row in told}) / 10)
    return float(np.mean(shares))


async def many_clients(url: str, key: str, asked: Sequence[Question], seconds: float) -> Stopwatch:
    """All of them ask through the API for a while; what is not answered with 200 is raised."""
    watch = Stopwatch()
    until = time.monotonic() + seconds
    headers = {"Authorization": f"Bearer {key}"}

    async def client(number: int) -> None:
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=30) as http:
            for it in itertools.cycle(asked[number::CLIENTS]):
                if time.monotonic() > until:
                    return
                path = f"/api/personas/{it.persona_id}/recall"
                ask = http.post(path, json={"query": it.text, "counts": False})
                (answer,) = await watch.time("one of many", ask)
                answer.raise_for_status()

    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return watch


def show(console: Console, title: str, watch: Stopwatch) -> tuple[float, float]:
    """Print what was measured. Returns the ratios to the floor at p50 and p95."""
    table = Table("ms", "p50", "p95", "p99", "times the floor", title=title)
    floor = next((name for name in watch.took if name.endswith("the floor")), None)
    ratios = (0.0, 0.0)
    for name in watch.took:
        p50, p95, p99 = (watch.at(name, it) for it in (50, 95, 99))
        told = ""
        if floor:
            times = p50 / watch.at(floor, 50), p95 / watch.at(floor, 95)
            told = f"{times[0]:.2f} / {times[1]:.2f}"
            ratios = times if name == "recall" else ratios
        table.add_row(name, f"{p50:.1f}", f"{p95:.1f}", f"{p99:.1f}", told)
    console.print(table)
    return ratios


async def measure(
    settings: Settings, url: str, key: str, given: argparse.Namespace, console: Console
) -> int:
    sizes, seconds = given.sizes, given.seconds
    missed = 0
    steady: dict[int, float] = {}

    def judge(told: str, value: float, goal: float, *, least: bool = False) -> None:
        nonlocal missed
        good = value >= goal if least else value <= goal
        missed += not good
        console.print(
            f"{told}: {value:.2f} (goal {'≥' if least else '≤'} {goal}) {'yes' if good else 'no'}"
        )

    graph, embedder = Graph.open(settings).with_limit(7200), open_embedder(settings)
    try:
        lexicon = await embedder.lexicon()
        for size in sizes:
            await bare(
                graph,
                "MATCH (n:Memory|Persona {tenant_id: $t}) CALL (n) { DETACH DELETE n } "
                "IN TRANSACTIONS OF 5000 ROWS",
                t=TENANT,
            )
            world = World(list(lexicon.positions), embedder.dimensions)
            asked = await load(graph, embedder, world, size, given.runs)
            recall = Recall(graph, embedder, seconds=600)
            large = [it for it in asked if it.persona_id != PROBE]
            small = [it for it in asked if it.persona_id == PROBE]
            watch = await compare(graph, recall, large, embed=True)
            p50, p95 = show(console, f"{size} memories of {PERSONAS} personas", watch)
            judge("recall, times the floor at p50", p50, GOALS["p50"])
            judge("recall, times the floor at p95", p95, GOALS["p95"])
            watch = await compare(graph, recall, small, embed=False)
            show(console, f"a persona of {PROBE_SIZE} memories among {size}", watch)
            steady[size] = watch.at("recall", 50)
            exact = await found_of_exact(graph, small)
            judge("of the exact ten nearest in it", exact, GOALS["exact"], least=True)
        for before, after in itertools.pairwise(sizes):
            growth = steady[after] / steady[before]
            judge(f"recall in it at {after}, times that at {before}", growth, GOALS["growth"])
        watch = await many_clients(url, key, large, seconds)
        answers = len(watch.took["one of many"])
        show(console, f"{CLIENTS} clients for {seconds:.0f} s, through the API", watch)
        console.print(f"{answers / seconds:.0f} recalls/s, every one answered")
    finally:
        embedder.close()
        await graph.close()
    return int(bool(missed))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        private_stack(Path(folder)) as (stack, settings, key),
    ):
        return asyncio.run(measure(settings, stack.api_url, key, given, Console()))


if __name__ == "__main__":
    sys.exit(main())
