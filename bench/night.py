"""Compares a night with the bare updates it makes.

All memories of one persona were used and are due to fade; each has four links, and one link in
twenty is weak. `strengthen`, `prune` and `decay` run through `run_night`, with its ledger, and as
the floor: the same updates as bare Cypher. They take turns on the same graph in one run.

Then a night in which one memory in a hundred was touched, compared with the night in which all
were; and the time per memory, compared with a graph of a tenth of the size.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from neo4j import AsyncDriver, AsyncGraphDatabase
from rich.console import Console
from rich.table import Table

from bench.private import private_neo4j
from engine.access import Persona, Tone, add_persona, add_tenant
from engine.embedding import claim_model, open_embedder
from engine.ids import new_id
from engine.memory import LinkType
from engine.night import run_night
from engine.settings import Settings
from engine.store import Graph, migrate

NOW = datetime(2026, 11, 16, 3, 30, tzinfo=UTC)
USED, DUE, LATER = (NOW + timedelta(hours=hours) for hours in (-5, -1, 24 * 20))
PERSONA: dict[str, Any] = {"tenant_id": "bench", "persona_id": "ada"}
STAGES = ("strengthen", "prune", "decay")
LINKS = 4  # from each memory
WEAK = 5  # the first link of every fifth memory is weak: one link in twenty
TYPES = [kind.value for kind in LinkType]
BATCH_SIZE = 10_000  # rows
WARM_UP = 2  # rounds that are not counted, of the smaller graph

# Times the floor; share of a full night when one memory in a hundred was touched; growth of the
# time per memory when there are ten times as many.
MAX_RATIO, MAX_TOUCHED_SHARE, MAX_GROWTH = 2.0, 0.05, 1.2
TOUCHED = 100  # every hundredth memory

ADD_MEMORIES = """
UNWIND $rows AS row
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
CREATE (persona)-[:REMEMBERS]->(memory:Memory:$(row.label))
SET
  memory += $all,
  memory += row.own,
  memory.idle_since = $now - duration({days: 31, minutes: row.own.place % 1000})
"""
ADD_LINKS = """
UNWIND $rows AS row
MATCH (source:Memory {tenant_id: $tenant_id, id: row.from_id})
MATCH (target:Memory {tenant_id: $tenant_id, id: row.to_id})
CREATE (source)-[link:$(row.type)]->(target)
SET
  link.strength = row.strength,
  link.weight_modifier = 1.0,
  link.similarity = row.strength, // what it is reset to
  link.coactivations = CASE row.used WHEN 'never' THEN 0 ELSE 1 END,
  link.created_at = $now - duration({days: 80}),
  link.coactivated_at =
    CASE row.used
      WHEN 'today' THEN $now - duration({hours: 5})
      WHEN 'long ago' THEN $now - duration({days: 70})
    END
"""
# Restores the state before a night. With $every = 100, only every hundredth memory is touched.
RESET = (
    "MATCH (node:Step|Run) CALL (node) { DETACH DELETE node } IN TRANSACTIONS OF 100 ROWS",
    "MATCH (persona:Persona) REMOVE persona.slept_at",
    """
MATCH (memory:Memory)
CALL (memory) {
  WITH memory, memory.place % $every = 0 AS touched
  SET
    memory.importance = 5,
    memory.stirred_at = CASE WHEN touched THEN $used END,
    memory.fades_at = CASE WHEN touched THEN $due ELSE $later END,
    memory.prune_at = CASE WHEN touched AND memory.place % $weak = 0 THEN $due END
} IN TRANSACTIONS OF 10000 ROWS""",
    """
MATCH (:Memory)-[link]->(:Memory)
WHERE link.strength < 0.1
CALL (link) { DELETE link } IN TRANSACTIONS OF 10000 ROWS""",
    """
MATCH (:Memory)-[link]->(:Memory)
WHERE link.strength <> link.similarity
CALL (link) { SET link.strength = link.similarity } IN TRANSACTIONS OF 10000 ROWS""",
)
# The same values in the same properties, and nothing else: no ledger, no policy, no reads.
FLOOR = {
    "strengthen": (
        """
MATCH (:Memory)-[link]->(:Memory)
WHERE link.coactivated_at > $since AND link.strength < 0.95
CALL (link) {
  SET link.strength = link.strength + (1 - link.strength) * 0.05
} IN TRANSACTIONS OF 10000 ROWS""",
        """
MATCH (memory:Memory)
CALL (memory) { REMOVE memory.stirred_at } IN TRANSACTIONS OF 10000 ROWS""",
    ),
    "prune": (
        """
MATCH (:Memory)-[link]->(:Memory)
WHERE link.strength < 0.1
CALL (link) { DELETE link } IN TRANSACTIONS OF 10000 ROWS""",
        """
MATCH (memory:Memory)
WHERE memory.prune_at IS NOT NULL
CALL (memory) { REMOVE memory.prune_at } IN TRANSACTIONS OF 10000 ROWS""",
    ),
    "decay": (
        """
MATCH (memory:Memory)
CALL (memory) {
  SET
    memory.importance = memory.importance - 1,
    memory.fades_at = memory.idle_since + duration({days: 60})
} IN TRANSACTIONS OF 10000 ROWS""",
    ),
}
CHECKSUM = """
MATCH (memory:Memory)
WITH
  count(*) AS memories,
  sum(memory.importance) AS importance,
  count(memory.stirred_at) AS stirred,
  count(memory.prune_at) AS weak,
  min(memory.fades_at) AS first,
  max(memory.fades_at) AS last
MATCH (:Memory)-[link]->(:Memory)
RETURN
  memories,
  importance,
  stirred,
  weak,
  first,
  last,
  count(*) AS links,
  round(sum(link.strength), 3) AS strength
"""

Timings = dict[str, list[float]]  # seconds, by what was timed


@dataclass(frozen=True)
class Bench:
    """A graph of one persona, used through the engine and through a bare driver."""

    graph: Graph
    driver: AsyncDriver
    database: str

    async def bare(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        async with self.driver.session(database=self.database) as session:
            result = await session.run(f"CYPHER 25 {statement}", {**PERSONA, **parameters})
            return [dict(record) async for record in result]

    async def load(self, size: int) -> list[dict[str, Any]]:
        """Load a persona's memories and links. Returns the weak links, which a reset puts back."""
        await self.bare(
            "MATCH (memory:Memory) CALL (memory) { DETACH DELETE memory } IN TRANSACTIONS"
        )
        ids = [new_id() for _ in range(size)]
        for batch in batches(memories(ids)):
            await self.bare(ADD_MEMORIES, rows=batch, all={**PERSONA, **SHARED_PROPERTIES}, now=NOW)
        for batch in batches(links(ids)):
            await self.bare(ADD_LINKS, rows=batch, now=NOW)
        # Plans made for an empty graph would be slow.
        await self.bare("CALL db.prepareForReplanning()")
        return [row for row in links(ids) if row["strength"] < 0.1]

    async def reset(self, weak: Sequence[dict[str, Any]], every: int = 1) -> None:
        for statement in RESET:
            await self.bare(statement, every=every, weak=WEAK, used=USED, due=DUE, later=LATER)
        for batch in batches(weak):
            await self.bare(ADD_LINKS, rows=batch, now=NOW)

    async def night(self) -> dict[str, float]:
        """Seconds of a whole night, of each stage, and of the three compared with the floor."""
        started = time.perf_counter()
        run = await run_night(
            self.graph,
            **PERSONA,
            now=NOW,
            started_by="bench",
        )
        seconds = {"whole": time.perf_counter() - started}
        seconds |= {stage.stage: stage.seconds or 0.0 for stage in run.stages}
        return seconds | {"all": sum(seconds[name] for name in STAGES)}

    async def floor(self) -> dict[str, float]:
        """Seconds of the same updates as bare Cypher, by stage."""
        seconds = {}
        for name, statements in FLOOR.items():
            started = time.perf_counter()
            for statement in statements:
                await self.bare(statement, since=NOW - timedelta(hours=24))
            seconds[name] = time.perf_counter() - started
        return seconds | {"all": sum(seconds.values())}


# Properties of every memory. None has an embedding: no stage measured here reads it.
SHARED_PROPERTIES = {
    "state": "active",
    "content": '{"who": "Sam", "said": "We walked along the river and talked until it was dark."}',
    "about": "Sam",
    "category": "life",
    "conversation_id": "monday",
    "flagged": False,
    "minimized": False,
    "importance": 5,
    "idle_importance": 5,
    "salience": 0.5,
    "uses_today": 0,
    "access_count": 1,
    "accessed_at": NOW - timedelta(days=31),
    "reinforcements": 0,
    "weight_modifier": 1.0,
    "pinned": False,
} | {f"{name}_at": NOW - timedelta(days=40) for name in ("said", "extracted", "formed", "salience")}


def memories(ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    for index, memory_id in enumerate(ids):
        label = ("Episodic", "Semantic", "Somatic")[index % 3]
        own = {
            "id": memory_id,
            "place": index,
            "memory_type": label.lower(),
            "text": f"Sam and Ada walked along the river, for the {index}th time.",
        }
        yield {"label": label, "own": own}


def links(ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Four from each memory: two to its neighbours, two far away."""
    size = len(ids)
    for index, memory_id in enumerate(ids):
        for number, distance in enumerate((1, 2, size // 3 + 1, size // 2 + 1)):
            is_weak = number == 0 and index % WEAK == 0
            used = ("long ago" if index % 2 else "never") if is_weak else "today"
            yield {
                "from_id": memory_id,
                "to_id": ids[(index + distance) % size],
                "type": TYPES[(index + number) % len(TYPES)],
                "strength": 0.05 if is_weak else 0.5 + index % 40 / 100,
                "used": used,
            }


def batches(rows: Iterable[Any]) -> Iterator[list[Any]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, BATCH_SIZE)):
        yield batch


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000, help="memories")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, private_neo4j(Path(folder)) as settings:
        return asyncio.run(measure(settings, arguments.size, arguments.rounds))


async def measure(settings: Settings, size: int, rounds: int) -> int:
    async with opened(settings) as bench:
        weak = await bench.load(size // 10)
        await take_turns(bench, weak, WARM_UP)
        small = await take_turns(bench, weak, rounds)
        weak = await bench.load(size)
        await take_turns(bench, weak, 1)
        large = await take_turns(bench, weak, rounds)
        for turn in range(rounds + 1):
            await bench.reset(weak, TOUCHED)
            seconds = await bench.night()
            if turn:  # the first one plans its statements again, since little is due
                add(large, "touched", seconds)
    return report(size, rounds, small, large)


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Bench]:
    """A migrated graph with a persona that has no memories yet."""
    graph = Graph.open(settings)
    driver = AsyncGraphDatabase.driver(
        str(settings.neo4j_uri),
        auth=(settings.neo4j_user, settings.neo4j_password.get_secret_value()),
        notifications_min_severity="OFF",
    )
    try:
        await migrate(graph)
        await claim_model(graph, open_embedder(settings))
        await add_tenant(graph, PERSONA["tenant_id"], name="Bench", now=NOW)
        ada = Persona(PERSONA["persona_id"], "Ada", Tone.PLAIN, "UTC", NOW, NOW)
        await add_persona(graph, PERSONA["tenant_id"], ada)
        yield Bench(graph, driver, settings.neo4j_database)
    finally:
        await driver.close()
        await graph.close()


async def take_turns(bench: Bench, weak: Sequence[dict[str, Any]], rounds: int) -> Timings:
    """Run nights and floors, each from the same state; every round swaps their order."""
    timings: Timings = {}
    turns: list[tuple[str, Callable[[], Awaitable[dict[str, float]]]]] = [
        ("night", bench.night),
        ("floor", bench.floor),
    ]
    for _ in range(rounds):
        checksums = []
        for name, turn in turns:
            await bench.reset(weak)
            add(timings, name, await turn())
            checksums.append(await bench.bare(CHECKSUM))
        if checksums[0] != checksums[1]:
            raise RuntimeError(f"The night and its floor did not do the same: {checksums}")
        turns.reverse()
    return timings


def add(timings: Timings, name: str, seconds: dict[str, float]) -> None:
    for part, value in seconds.items():
        timings.setdefault(f"{name} {part}", []).append(value)


def report(size: int, rounds: int, small: Timings, large: Timings) -> int:
    console = Console()
    console.print(f"{size} memories, {size * LINKS} links; medians of {rounds} rounds")
    table = Table("seconds", "night", "bare Cypher", "ratio")
    for name in (*STAGES, "all"):
        night, floor = median(large, f"night {name}"), median(large, f"floor {name}")
        label = "all three" if name == "all" else name
        table.add_row(label, f"{night:.2f}", f"{floor:.2f}", f"{night / floor:.2f}")
    console.print(table)

    whole, touched = median(large, "night whole"), median(large, "touched whole")
    before, after = median(small, "night all") / (size // 10), median(large, "night all") / size
    floor_ratio = median(large, "night all") / median(large, "floor all")
    stages, stages_touched = median(large, "night all"), median(large, "touched all")
    goals = [
        ("strengthen, prune and decay, times the floor", floor_ratio, MAX_RATIO, ".2f"),
        (
            f"the three stages with 1 % touched ({stages_touched:.2f} s), share of all touched"
            f" ({stages:.2f} s)",
            stages_touched / stages,
            MAX_TOUCHED_SHARE,
            ".1%",
        ),
        (
            f"a whole night with 1 % touched ({touched:.2f} s), share of all touched"
            f" ({whole:.2f} s)",
            touched / whole,
            MAX_TOUCHED_SHARE,
            ".1%",
        ),
        (
            f"time per memory at {size} ({after * 1e6:.0f} µs), times that at {size // 10}"
            f" ({before * 1e6:.0f} µs)",
            after / before,
            MAX_GROWTH,
            ".2f",
        ),
    ]
    table = Table("what", "measured", "goal", "met")
    for name, measured, limit, format_ in goals:
        met = "yes" if measured <= limit else "no"
        table.add_row(name, format(measured, format_), f"≤ {limit:{format_}}", met)
    console.print(table)
    return 0


def median(timings: Timings, name: str) -> float:
    return statistics.median(timings[name])


if __name__ == "__main__":
    sys.exit(main())
