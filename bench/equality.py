"""Compares recall from memory and from the graph with an exact scan, on synthetic personas.

Personas of 100 to 2,000 generated memories, each persona asked its share of the questions. What
`bench.quality` compares on real conversations is compared here where many memories are alike: their
vectors cluster, their words repeat, and all are linked.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.progress import track

from bench.exact import ExactScan
from bench.private import bare, private_neo4j
from bench.quality import HOT_BYTES, compare_indexes
from bench.synthetic import NOW, TENANT, DataGenerator, GeneratedPersona
from engine.access import add_tenant
from engine.embedding import claim_model, open_embedder
from engine.recall import Recall
from engine.settings import Settings
from engine.store import Graph, migrate

QUESTIONS = 1_100
SIZES = (100, 200, 500, 1_000, 2_000)


async def measure(settings: Settings, sizes: list[int], questions: int, console: Console) -> int:
    """Load the personas and ask each its share of the questions. Returns 1 if a goal is missed."""
    graph, embedder = Graph.open(settings).with_limit(600), open_embedder(settings)
    hot = Recall(graph, embedder, seconds=600, hot_bytes=HOT_BYTES)
    cold = Recall(graph, embedder, seconds=600)
    try:
        await migrate(graph)
        await claim_model(graph, embedder)
        await add_tenant(graph, TENANT, name="Bench", now=NOW)
        generator = DataGenerator(list((await embedder.lexicon()).positions), embedder.dimensions)
        asked = []
        for size in track(sizes, "Loading"):
            persona_id = f"of-{size}"
            persona = GeneratedPersona.of(generator, persona_id, size, questions // len(sizes))
            await persona.store(graph)
            asked += [
                {"talk": persona_id, "question": question.text} for question in persona.questions
            ]
            await hot.recall(TENANT, persona_id, "first?", now=NOW)
        await bare(graph, "CALL db.awaitIndexes(600)")
        await hot.loaded()
        exact = ExactScan(graph, embedder, TENANT)
        recalls = {"memory": hot, "the graph": cold}
        unequal = await compare_indexes(recalls, exact, asked, NOW, console, tenant_id=TENANT)
    finally:
        await hot.close()
        embedder.close()
        await graph.close()
    return int(unequal)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, private_neo4j(Path(folder)) as settings:
        return asyncio.run(
            measure(settings, arguments.sizes, arguments.questions, Console(width=110))
        )


if __name__ == "__main__":
    sys.exit(main())
