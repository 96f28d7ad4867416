"""Compares drawing a shape of many archived memories with the same reads and writes as bare Cypher.

One persona with generated memories: so many are archived, as many live. The stage of the night runs
through `run_night`, with its ledger, its check of every source and the themes and vectors that it
computes; the floor reads the same properties and writes the same nodes and links. They take turns.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.private import bare, private_neo4j
from bench.synthetic import NOW, TENANT, DataGenerator, GeneratedPersona
from engine.access import add_tenant
from engine.embedding import Embedder, claim_model, open_embedder
from engine.night import NightTools, open_night_tools, run_night
from engine.settings import Settings
from engine.store import Graph, migrate

PERSONA: dict[str, Any] = {"tenant_id": TENANT, "persona_id": "ada"}
SIZE, ROUNDS, WARM_UP = 10_000, 5, 2
LIVING = 2_000  # texts that are read to know which words are common
MAX_RATIO = 2.0

ARCHIVE = """
MATCH (memory:Memory {tenant_id: $tenant_id, persona_id: $persona_id})
WITH memory ORDER BY memory.id LIMIT $size
SET memory.state = 'archived'
"""
RESET = """
MATCH (node:Step|Run|ForgottenShape|ShapeExperience|Drawn)
CALL (node) { DETACH DELETE node } IN TRANSACTIONS OF 1 ROW
"""
READ_ARCHIVED = """
MATCH (memory:Memory {tenant_id: $tenant_id, persona_id: $persona_id, state: 'archived'})
RETURN
  memory {
    .id, .text, .about, .said_at, .importance, .access_count, .valence, .arousal, .embedding
  } AS source
"""
READ_LIVING = """
MATCH (memory:Memory {tenant_id: $tenant_id, persona_id: $persona_id, state: 'active'})
WITH memory ORDER BY memory.said_at DESC LIMIT $limit
RETURN memory.text AS text, memory.about AS about
"""
# Links are counted in all, and as many are written as a shape has.
WRITE = """
CREATE (shape:Drawn {tenant_id: $tenant_id, id: 'floor', embedding: $embedding})
WITH shape
CALL (shape) {
  UNWIND $source_ids AS id
  MATCH (source:Memory {tenant_id: $tenant_id, id: id})
  CREATE (source)-[:SHAPED_INTO]->(shape)
}
WITH shape
MATCH (source)-[:SHAPED_INTO]->(shape)
MATCH (source)-[link]-(other:Memory {state: 'active'})
WITH shape, other, type(link) AS type, sum(link.strength) AS strength
ORDER BY strength DESC LIMIT 50
CREATE (shape)-[:RELATED {strength: strength}]->(other)
"""
DRAWN = """
MATCH (shape:ForgottenShape {tenant_id: $tenant_id})
RETURN COUNT { (shape)<-[:SHAPED_INTO]-() } AS sources
"""


async def draw(graph: Graph, tools: NightTools, size: int) -> float:
    """Seconds of the stage in a night."""
    run = await run_night(graph, **PERSONA, now=NOW, started_by="bench", tools=tools)
    drawn = await bare(graph, DRAWN, tenant_id=TENANT)
    if [row["sources"] for row in drawn] != [size]:
        raise RuntimeError(f"A shape of {size} memories was expected: {drawn}")
    return next(stage.seconds or 0.0 for stage in run.stages if stage.stage == "shapes")


async def read_and_write(graph: Graph, size: int) -> float:
    """Seconds of the same reads and writes as bare Cypher, in three transactions."""
    started = time.perf_counter()
    rows = await bare(graph, READ_ARCHIVED, **PERSONA)
    await bare(graph, READ_LIVING, **PERSONA, limit=LIVING)
    sources = [row["source"] for row in rows]
    ids = [source["id"] for source in sources]
    await bare(graph, WRITE, tenant_id=TENANT, source_ids=ids, embedding=sources[0]["embedding"])
    if len(ids) != size:
        raise RuntimeError(f"{size} archived memories were expected, {len(ids)} found")
    return time.perf_counter() - started


async def load(graph: Graph, embedder: Embedder, size: int) -> None:
    await migrate(graph)
    await claim_model(graph, embedder)
    await add_tenant(graph, TENANT, name="Bench", now=NOW)
    lexicon = await embedder.lexicon()
    generator = DataGenerator(list(lexicon.positions), embedder.dimensions)
    await GeneratedPersona.of(generator, "ada", 2 * size, 1).store(graph)
    await bare(graph, ARCHIVE, **PERSONA, size=size)
    await bare(graph, "CALL db.awaitIndexes(600)")


async def measure(settings: Settings, size: int, rounds: int, console: Console) -> int:
    graph, embedder = Graph.open(settings).with_limit(600), open_embedder(settings)
    tools = open_night_tools(settings, embedder)
    seconds: dict[str, list[float]] = {"the night": [], "bare Cypher": []}
    try:
        await load(graph, embedder, size)
        for turn in range(-WARM_UP, rounds):
            await bare(graph, RESET)
            night = await draw(graph, tools, size)
            await bare(graph, RESET)
            floor = await read_and_write(graph, size)
            if turn >= 0:
                seconds["the night"].append(night)
                seconds["bare Cypher"].append(floor)
    finally:
        embedder.close()
        await graph.close()
    return report(console, seconds, size, rounds)


def report(console: Console, seconds: dict[str, list[float]], size: int, rounds: int) -> int:
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    table = Table(f"drawing {size} archived memories", "seconds", "least", "most")
    for name, values in seconds.items():
        table.add_row(name, *(f"{it:.2f}" for it in (medians[name], min(values), max(values))))
    console.print(table)
    ratio = medians["the night"] / medians["bare Cypher"]
    console.print(f"medians of {rounds} turns: {ratio:.2f} times (goal ≤ {MAX_RATIO})")
    return int(ratio > MAX_RATIO)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help="memories that are archived")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, private_neo4j(Path(folder)) as settings:
        return asyncio.run(measure(settings, arguments.size, arguments.rounds, Console()))


if __name__ == "__main__":
    sys.exit(main())
