"""Synthetic memories for benchmarks: a hundred personas, and one of constant size, the probe.

Vectors cluster by topic as real ones do; each memory precedes the next and is related to others of
its topic.
"""

import asyncio
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from neo4j.vector import Vector as Packed
from rich.progress import track

from bench.private import bare
from engine.access import Persona, Tone, add_persona
from engine.embedding import (
    Embedder,
    MemoryVectors,
    Vector,
    claim_model,
    normalized,
    search_scope,
)
from engine.ids import id_from
from engine.store import Graph
from engine.text import term_hashes

PERSONAS = 100
PROBE, PROBE_SIZE = "probe", 100
TOPICS, TOPICS_PER_PERSONA = 200, 20
RELATED = 3  # links to so many earlier memories of the same topic
NOISE = 0.75  # of a vector's length: a topic's memories have a cosine of 0.6, as in real talk
BATCH_SIZE = 2500  # rows
WRITERS = 2  # personas that are stored at a time
TENANT = "demo"
NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)

# Links within a batch are made by position, which needs no index.
LOAD = """
UNWIND $rows AS row
CREATE (memory:Memory:Episodic)
SET memory += $common, memory += row.properties, memory.embedding = toFloatList(row.embedding),
  memory.said_at = $now - duration({minutes: row.minutes})
WITH collect(memory) AS memories
CALL (memories) {
  UNWIND $links AS link
  WITH memories[link[0]] AS source, memories[link[1]] AS target, link[2] AS type
  CREATE (source)-[:$(type) {strength: 0.5, weight_modifier: 1.0, coactivations: 0}]->(target)
}
"""
LINK_TO_EARLIER = """
UNWIND $rows AS row
MATCH (a:Memory {tenant_id: $tenant_id, id: row[0]})
MATCH (b:Memory {tenant_id: $tenant_id, id: row[1]})
CREATE (a)-[:$(row[2]) {strength: 0.5, weight_modifier: 1.0, coactivations: 0}]->(b)
"""
RANGE_INDEXES = """
SHOW INDEXES YIELD name, type, labelsOrTypes, owningConstraint, createStatement
WHERE type = 'RANGE' AND 'Memory' IN labelsOrTypes AND owningConstraint IS NULL
RETURN name, createStatement
"""
NO_NIGHTS = """
MATCH (persona:Persona {tenant_id: $tenant_id})
SET persona.next_night_at = datetime('9999-01-01T00:00Z')
"""


@dataclass
class DataGenerator:
    """Generates memories; the same ones for the same size."""

    words: list[str]  # of the model, by their index
    dimensions: int
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def __post_init__(self) -> None:
        self.centres = self.random.normal(size=(TOPICS, self.dimensions))
        self.centres /= np.linalg.norm(self.centres, axis=1, keepdims=True)
        self.words_by_topic = self.random.integers(len(self.words), size=(TOPICS, 60))

    def vector_near(self, topic: int) -> Vector:
        noise = self.random.normal(size=self.dimensions)
        return normalized(self.centres[topic] + NOISE * noise / np.linalg.norm(noise))

    def topics_of_persona(self, count: int) -> list[int]:
        """The topic of each of a persona's memories."""
        topics = self.random.choice(TOPICS, TOPICS_PER_PERSONA, replace=False)
        return [int(topic) for topic in self.random.choice(topics, count)]

    def memory(self, persona_id: str, index: int, topic: int) -> dict[str, Any]:
        word_ids = self.random.choice(self.words_by_topic[topic], 12)
        own, neighbours, *parts = (self.vector_near(topic) for _ in range(4))
        text = " ".join(self.words[word_id] for word_id in word_ids)
        packed_vectors = MemoryVectors(
            own,
            neighbours,
            tuple(parts),
            tuple(word_ids[:8]),
            tuple(word_ids[8:]),
            term_hashes(text),
        )
        return {
            "embedding": Packed.from_numpy(own),
            "minutes": 2 * index,
            "properties": {
                "id": id_from(persona_id, str(index)),
                "text": text,
                "packed_vectors": packed_vectors.pack(),
            },
        }


def common_properties(persona_id: str) -> dict[str, Any]:
    """What all memories of a persona have alike."""
    return {
        "tenant_id": TENANT,
        "persona_id": persona_id,
        "memory_type": "episodic",
        "state": "active",
        "flagged": False,
        "minimized": False,
        "category": "none",
        "content": "{}",
        "about": "Sam",
        "conversation_id": persona_id,
        "search_scope": search_scope(TENANT, persona_id),
        "token_estimate": 14,
        "importance": 5,
        "salience": 0.5,
        "pinned": False,
        "access_count": 0,
        "weight_modifier": 1.0,
    }


Link = tuple[int, int, str]  # source and target by their place, and the type


def links(topics: Sequence[int]) -> Iterator[Link]:
    """Links between a persona's memories, each in the order of its target."""
    places_by_topic: dict[int, list[int]] = {}
    for place, topic in enumerate(topics):
        if place:
            yield place - 1, place, "PRECEDES"
        earlier = places_by_topic.setdefault(topic, [])
        for earlier_place in earlier[-RELATED:]:
            yield earlier_place, place, "RELATED"
        earlier.append(place)


@dataclass
class Question:
    persona_id: str
    text: str
    vector: Vector


@dataclass
class GeneratedPersona:
    """The memories of one persona, their links, and questions about them."""

    id: str
    rows: list[dict[str, Any]]
    links: list[Link]
    questions: list[Question]

    @classmethod
    def of(
        cls, generator: DataGenerator, persona_id: str, count: int, asked: int
    ) -> "GeneratedPersona":
        topics = generator.topics_of_persona(count)
        rows = [generator.memory(persona_id, index, topic) for index, topic in enumerate(topics)]
        questions = []
        for index in generator.random.integers(count, size=asked):
            words = rows[index]["properties"]["text"].split()[:4]
            noise = generator.random.normal(size=generator.dimensions)
            memory_vector = np.array(rows[index]["embedding"].to_numpy())
            vector = normalized(memory_vector + 0.5 * noise / np.linalg.norm(noise))
            questions.append(Question(persona_id, f"What about {' '.join(words)}?", vector))
        return cls(persona_id, rows, list(links(topics)), questions)

    async def store(self, graph: Graph) -> None:
        """Write the persona, a batch of memories with their links at a time."""
        persona = Persona(self.id, "Ada", Tone.PLAIN, "UTC", NOW, NOW)
        await add_persona(graph, TENANT, persona)
        for start in range(0, len(self.rows), BATCH_SIZE):
            batch = self.rows[start : start + BATCH_SIZE]
            of_batch = [link for link in self.links if start <= link[1] < start + BATCH_SIZE]
            within = [
                [source - start, target - start, type_]
                for source, target, type_ in of_batch
                if source >= start
            ]
            to_earlier = [
                [self._id_at(source), self._id_at(target), type_]
                for source, target, type_ in of_batch
                if source < start
            ]
            common = common_properties(self.id)
            await bare(graph, LOAD, rows=batch, common=common, links=within, now=NOW)
            await bare(graph, LINK_TO_EARLIER, rows=to_earlier, tenant_id=TENANT)

    def _id_at(self, place: int) -> str:
        id_: str = self.rows[place]["properties"]["id"]
        return id_


async def load(
    graph: Graph, embedder: Embedder, generator: DataGenerator, size: int, runs: int
) -> list[Question]:
    """Load the data, then index it. Returns questions, half of them to the probe.

    The next persona is generated while those before it are written.
    """
    for index in ("meaning", "words"):
        await bare(graph, f"DROP INDEX {index} IF EXISTS")
    range_indexes = await bare(graph, RANGE_INDEXES)
    for row in range_indexes:
        await bare(graph, f"DROP INDEX {row['name']}")
    personas = {f"p{n:03}": size // PERSONAS for n in range(PERSONAS)} | {PROBE: PROBE_SIZE}
    questions: list[Question] = []
    writing: set[asyncio.Task[None]] = set()
    started = time.monotonic()
    for persona_id, count in track(personas.items(), f"Loading {size}"):
        asked = runs if persona_id == PROBE else math.ceil(runs / PERSONAS)
        persona = await asyncio.to_thread(GeneratedPersona.of, generator, persona_id, count, asked)
        questions += persona.questions
        if len(writing) == WRITERS:
            done, writing = await asyncio.wait(writing, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        writing.add(asyncio.create_task(persona.store(graph)))
    await asyncio.gather(*writing)
    stored = time.monotonic()
    for row in range_indexes:
        await bare(graph, row["createStatement"])
    await bare(graph, NO_NIGHTS, tenant_id=TENANT)
    await claim_model(graph, embedder)
    await bare(graph, "CALL db.awaitIndexes(7200)")
    rate = (size + PROBE_SIZE) / (stored - started)
    print(f"{rate:.0f} memories a second; indexes after {time.monotonic() - stored:.0f} s more")
    return questions


def without_probe(questions: Sequence[Question]) -> list[Question]:
    return [question for question in questions if question.persona_id != PROBE]
