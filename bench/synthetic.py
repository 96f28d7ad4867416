"""Synthetic memories for benchmarks: a hundred personas, and one of constant size, the probe.

Vectors cluster by topic as real ones do; each memory precedes the next and is related to others of
its topic.
"""

import itertools
import math
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
BATCH_SIZE = 1000  # rows
TENANT = "demo"
NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)

LOAD = """
UNWIND $rows AS row
CREATE (memory:Memory:Episodic)
SET memory += row.properties, memory.embedding = toFloatList(row.embedding),
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
                "tenant_id": TENANT,
                "id": id_from(persona_id, str(index)),
                "persona_id": persona_id,
                "memory_type": "episodic",
                "state": "active",
                "flagged": False,
                "minimized": False,
                "category": "none",
                "text": text,
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
    """Links between a persona's memories: source, target and type."""
    ids = [id_from(persona_id, str(index)) for index in range(len(topics))]
    for memory_id, next_id in itertools.pairwise(ids):
        yield [memory_id, next_id, "PRECEDES"]
    ids_by_topic: dict[int, list[str]] = {}
    for memory_id, topic in zip(ids, topics, strict=True):
        earlier = ids_by_topic.setdefault(topic, [])
        for earlier_id in earlier[-RELATED:]:
            yield [earlier_id, memory_id, "RELATED"]
        earlier.append(memory_id)


@dataclass
class Question:
    persona_id: str
    text: str
    vector: Vector


async def load(
    graph: Graph, embedder: Embedder, generator: DataGenerator, size: int, runs: int
) -> list[Question]:
    """Load the data, then index it. Returns questions, half of them to the probe."""
    for index in ("meaning", "words"):
        await bare(graph, f"DROP INDEX {index} IF EXISTS")
    personas = {f"p{n:03}": size // PERSONAS for n in range(PERSONAS)} | {PROBE: PROBE_SIZE}
    questions = []
    for persona_id, count in track(personas.items(), f"Loading {size}"):
        persona = Persona(persona_id, "Ada", Tone.PLAIN, "UTC", NOW, NOW)
        await add_persona(graph, TENANT, persona)
        topics = generator.topics_of_persona(count)
        rows = [generator.memory(persona_id, index, topic) for index, topic in enumerate(topics)]
        for batch in batches(rows):
            await bare(graph, LOAD, rows=batch, now=NOW)
        for batch in batches(list(links(persona_id, topics))):
            await bare(graph, LINK, rows=batch, tenant_id=TENANT)
        asked = runs if persona_id == PROBE else math.ceil(runs / PERSONAS)
        for index in generator.random.integers(count, size=asked):
            words = rows[index]["properties"]["text"].split()[:4]
            noise = generator.random.normal(size=generator.dimensions)
            memory_vector = np.array(rows[index]["embedding"].to_numpy())
            vector = normalized(memory_vector + 0.5 * noise / np.linalg.norm(noise))
            questions.append(Question(persona_id, f"What about {' '.join(words)}?", vector))
    await bare(graph, NO_NIGHTS, tenant_id=TENANT)
    await claim_model(graph, embedder)
    await bare(graph, "CALL db.awaitIndexes(7200)")
    return questions


def batches(rows: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(rows), BATCH_SIZE):
        yield list(rows[start : start + BATCH_SIZE])


def without_probe(questions: Sequence[Question]) -> list[Question]:
    return [question for question in questions if question.persona_id != PROBE]
