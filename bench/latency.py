"""Compares a recall, from memory and from the graph, with a bare hybrid search.

The data: memories of a hundred personas, with vectors that cluster by topic as real ones do, words,
and links (each memory precedes the next and is related to others of its topic). One more persona,
the probe, has a hundred memories at every size. Data is loaded before it is indexed.

Each question is asked from memory, from the graph's indexes, as the first one to its persona, and
as the floor, in turns in one run. The first one reads a small persona whole; a larger one is
searched in the graph and loaded in the background. The floor is one bare statement: a filtered
vector search and a full-text query of 50 rows each, fused by the reciprocals of their ranks, ten
ids returned. At the end many clients ask through the API at once.
"""

import argparse
import asyncio
import itertools
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from neo4j.vector import Vector as Packed
from rich.console import Console
from rich.table import Table

from bench.private import bare, private_stack
from bench.synthetic import (
    NOW,
    PERSONAS,
    PROBE,
    PROBE_SIZE,
    TENANT,
    DataGenerator,
    Question,
    load,
    without_probe,
)
from engine.embedding import (
    Embedder,
    open_embedder,
    search_scope,
)
from engine.recall import Recall, full_text_query
from engine.settings import Settings
from engine.store import Graph

RUNS = 300  # questions to all personas, and as many to the probe
WARM_UP = 5  # the first fifth of the questions is not counted
CLIENTS, SECONDS = 32, 60
CLIENT_RECALL = "recall of one client"
FLOOR = "one bare hybrid statement: the floor"
HOT, COLD, FIRST = "recall from memory", "recall from the graph", "first recall of a persona"
HOT_BYTES = 2**33  # room for all personas of a size, a million memories too
# Times the floor; growth of the probe from one size to the next; share of the exact hits.
GOALS = {
    HOT: {"p50": 1.0, "p95": 1.5},
    COLD: {"p50": 1.5},
    FIRST: {"p50": 1.5},
}
GROWTH_GOAL, EXACT_GOAL = 1.2, 0.95

CLEAR = """
MATCH (node:Memory|Persona {tenant_id: $tenant_id})
CALL (node) { DETACH DELETE node } IN TRANSACTIONS OF 5000 ROWS
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
HYBRID = """
CALL () {
  MATCH (item:Candidate|Memory)
    SEARCH item IN (
      VECTOR INDEX meaning FOR $embedding
      WHERE item.tenant_id = $tenant_id AND item.persona_id = $persona_id AND item.flagged = false
      LIMIT 50
    ) SCORE AS score
  WITH item ORDER BY score DESC
  WITH collect(item) AS found
  UNWIND range(0, size(found) - 1) AS place
  RETURN found[place] AS item, 1.0 / (60 + place) AS share
  UNION ALL
  CALL db.index.fulltext.queryNodes('words', $query, {limit: 50}) YIELD node, score
  WITH collect(node) AS found
  UNWIND range(0, size(found) - 1) AS place
  RETURN found[place] AS item, 1.0 / (60 + place) AS share
}
WITH item, sum(share) AS score
ORDER BY score DESC
LIMIT 10
RETURN item.id AS id, item.text AS text, score
"""


class Stopwatch:
    """Milliseconds of calls, by name."""

    def __init__(self) -> None:
        self.timings: dict[str, list[float]] = {}

    async def time(self, name: str, *calls: Any) -> list[Any]:
        """Await the calls one after another and add their time. Returns their results."""
        start = time.perf_counter()
        results = [await call for call in calls]
        self.timings.setdefault(name, []).append(1000 * (time.perf_counter() - start))
        return results

    def percentile(self, name: str, percent: float) -> float:
        return float(np.percentile(self.timings[name], percent))

    def ratio(self, name: str, percent: float) -> float:
        """How many times the floor a call takes."""
        return self.percentile(name, percent) / self.percentile(FLOOR, percent)


async def compare(
    graph: Graph,
    recalls: Mapping[str, Recall],
    questions: Sequence[Question],
    *,
    embed: bool,
) -> Stopwatch:
    """Ask each question in each of these ways and as the floor, in turns."""
    watch = Stopwatch()
    for index, question in enumerate(questions):
        if index == len(questions) // WARM_UP:
            watch = Stopwatch()
        persona_id, vector = question.persona_id, question.vector
        words = question.text[len("What about ") : -1].split()
        query = full_text_query(search_scope(TENANT, persona_id), words, {})
        of_persona = {"tenant_id": TENANT, "persona_id": persona_id}
        packed = Packed.from_numpy(vector)
        await watch.time("RETURN 1", bare(graph, "RETURN 1"))
        await watch.time(FLOOR, bare(graph, HYBRID, embedding=packed, query=query, **of_persona))
        for name, recall in recalls.items():
            if name == FIRST:
                await recall.close()  # forgets whom it was asked before
            call = recall.recall(TENANT, persona_id, question.text, now=NOW, vector=vector)
            await watch.time(name, call)
            if name == FIRST:
                await recall.loaded()  # what it loads for the next is not to slow the others
        if embed:
            text = f"{question.text} {index}"  # a new text, so that no cache has its vector
            await watch.time(
                f"{HOT}, with embedding",
                recalls[HOT].recall(TENANT, persona_id, text, now=NOW),
            )
    return watch


async def become_hot(
    hot: Recall, questions: Sequence[Question], size: int, console: Console
) -> None:
    """Ask every persona once and wait until it is in memory. Prints what both take together."""
    persona_ids = sorted({question.persona_id for question in questions})
    seconds = []
    for persona_id in persona_ids:
        started = time.perf_counter()
        await hot.recall(TENANT, persona_id, "first?", now=NOW, vector=questions[0].vector)
        await hot.loaded()
        seconds.append(time.perf_counter() - started)
    per_memory = hot.hot_size / (size + PROBE_SIZE)
    console.print(
        f"becomes hot in {np.median(seconds):.2f} s (median of {len(seconds)} personas, "
        f"{size // PERSONAS} memories each); {per_memory:.0f} bytes a memory"
    )


async def share_of_exact(graph: Graph, questions: Sequence[Question]) -> float:
    """The share of the probe's exact ten nearest memories that the index finds."""
    rows = await bare(
        graph,
        "MATCH (m:Memory {tenant_id: $t, persona_id: $p}) RETURN m.id AS id, m.embedding AS vector",
        t=TENANT,
        p=PROBE,
    )
    vectors = np.array([row["vector"] for row in rows])
    shares = []
    for question in questions[:100]:
        nearest = np.argsort(-(vectors @ question.vector))[:10]
        exact = {rows[index]["id"] for index in nearest}
        hits = await bare(
            graph,
            NEAREST,
            embedding=Packed.from_numpy(question.vector),
            tenant_id=TENANT,
            persona_id=PROBE,
            limit=10,
        )
        shares.append(len(exact & {row["id"] for row in hits}) / 10)
    return float(np.mean(shares))


async def ask_with_many_clients(
    url: str, key: str, questions: Sequence[Question], seconds: float
) -> Stopwatch:
    """Ask through the API with many clients at once. Raises on an answer that is not 200."""
    watch = Stopwatch()
    until = time.monotonic() + seconds
    headers = {"Authorization": f"Bearer {key}"}

    async def client(number: int) -> None:
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=30) as http:
            for question in itertools.cycle(questions[number::CLIENTS]):
                if time.monotonic() > until:
                    return
                path = f"/api/personas/{question.persona_id}/recall"
                call = http.post(path, json={"query": question.text, "counts": False})
                (answer,) = await watch.time(CLIENT_RECALL, call)
                answer.raise_for_status()

    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return watch


def show(console: Console, title: str, watch: Stopwatch) -> None:
    """Print a table of what took how long."""
    table = Table("ms", "p50", "p95", "p99", "times the floor: p50 / p95", title=title)
    for name in watch.timings:
        p50, p95, p99 = (watch.percentile(name, percent) for percent in (50, 95, 99))
        ratios = (
            f"{watch.ratio(name, 50):.2f} / {watch.ratio(name, 95):.2f}"
            if FLOOR in watch.timings
            else ""
        )
        table.add_row(name, f"{p50:.1f}", f"{p95:.1f}", f"{p99:.1f}", ratios)
    console.print(table)


class Goals:
    """Prints figures with their goals, and counts the goals that are missed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.missed = 0

    def check(self, name: str, value: float, goal: float, *, at_least: bool = False) -> None:
        met = value >= goal if at_least else value <= goal
        self.missed += not met
        sign = "≥" if at_least else "≤"
        self._console.print(f"{name}: {value:.2f} (goal {sign} {goal}) {'yes' if met else 'no'}")


async def measure(
    settings: Settings, url: str, key: str, arguments: argparse.Namespace, console: Console
) -> int:
    sizes, seconds = arguments.sizes, arguments.seconds
    goals = Goals(console)
    probe_medians: dict[int, float] = {}
    graph, embedder = Graph.open(settings).with_limit(7200), open_embedder(settings)
    try:
        lexicon = await embedder.lexicon()
        for size in sizes:
            await bare(graph, CLEAR, tenant_id=TENANT)
            generator = DataGenerator(list(lexicon.positions), embedder.dimensions)
            questions = await load(graph, embedder, generator, size, arguments.runs)
            probe_medians[size] = await measure_size(
                graph, embedder, questions, size, goals, console
            )
        for before, after in itertools.pairwise(sizes):
            growth = probe_medians[after] / probe_medians[before]
            name = f"recall in the probe at {after}, times that at {before}"
            goals.check(name, growth, GROWTH_GOAL)
        watch = await ask_with_many_clients(url, key, without_probe(questions), seconds)
        answers = len(watch.timings[CLIENT_RECALL])
        show(console, f"{CLIENTS} clients for {seconds:.0f} s, through the API", watch)
        console.print(f"{answers / seconds:.0f} recalls/s, every one answered")
    finally:
        embedder.close()
        await graph.close()
    return int(bool(goals.missed))


async def measure_size(
    graph: Graph,
    embedder: Embedder,
    questions: Sequence[Question],
    size: int,
    goals: Goals,
    console: Console,
) -> float:
    """Compare recall with the floor at one size. Returns the probe's median in milliseconds."""
    hot = Recall(graph, embedder, seconds=600, hot_bytes=HOT_BYTES)
    recalls = {
        HOT: hot,
        COLD: Recall(graph, embedder, seconds=600),
        FIRST: Recall(graph, embedder, seconds=600, hot_bytes=HOT_BYTES),
    }
    await become_hot(hot, questions, size, console)
    watch = await compare(graph, recalls, without_probe(questions), embed=True)
    show(console, f"{size} memories of {PERSONAS} personas", watch)
    for name, percents in GOALS.items():
        for percent, goal in percents.items():
            ratio = watch.ratio(name, float(percent.removeprefix("p")))
            goals.check(f"{name}, times the floor at {percent}", ratio, goal)
    to_probe = [question for question in questions if question.persona_id == PROBE]
    watch = await compare(graph, recalls, to_probe, embed=False)
    show(console, f"the probe, a persona of {PROBE_SIZE} memories among {size}", watch)
    exact = await share_of_exact(graph, to_probe)
    name = "share of the exact ten nearest in the probe"
    goals.check(name, exact, EXACT_GOAL, at_least=True)
    await hot.close()
    return watch.percentile(HOT, 50)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        private_stack(Path(folder)) as (stack, settings, key),
    ):
        return asyncio.run(measure(settings, stack.api_url, key, arguments, Console()))


if __name__ == "__main__":
    sys.exit(main())
