"""Compares «Forget This» with a bare write of one row.

The conversation has a realistic size: a candidate and a memory for each message, and links between
the memories. One message is flagged and undone, over and over, in turns with a bare transaction
that writes one row through the same driver. Then ranges of 100 and of 1,000 messages: the cost of
each message must not grow with the length of the range.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.private import bare, private_neo4j
from engine.access import (
    Caller,
    Instance,
    Persona,
    Role,
    Tone,
    add_instance,
    add_persona,
    add_tenant,
)
from engine.embedding import claim_model, open_embedder
from engine.forgetting import (
    FlagRules,
    ReversalSource,
    Templates,
    flag_message,
    flag_range,
    undo_message,
    undo_range,
)
from engine.ids import new_id
from engine.settings import Settings
from engine.store import Graph, migrate
from engine.talk import Conversation, add_conversation

NOW = datetime(2026, 5, 3, 12, tzinfo=UTC)
CALLER = Caller("bench", "bench", Role.ADMIN)
RULES = FlagRules(confirm_from=3, undo_window=timedelta(seconds=7), debounce=timedelta(seconds=30))
MESSAGES = 4_000
MAX_RATIO, MAX_GROWTH = 3.0, 1.2

LOAD = """
UNWIND range(0, $messages - 1) AS i
MATCH (conversation:Conversation {tenant_id: 'bench', id: 'monday'})
CREATE (conversation)-[:CONTAINS]->(message:Message {
  tenant_id: 'bench', id: 'm' + i, conversation_id: 'monday', persona_id: 'ada', role: 'user',
  content: 'What was said here is number ' + i + ', and is as long as people write.',
  said_at: $now - duration({minutes: 2 * ($messages - i)}), received_at: $now, arrival: i + 1
})
CREATE (candidate:Candidate {
  tenant_id: 'bench', id: 'c' + i, persona_id: 'ada', memory_type: 'episodic', state: 'pending',
  flagged: false, minimized: false, text: 'It was said.', content: '{}', extracted_at: $now,
  said_at: message.said_at
})-[:DRAWN_FROM]->(message)
CREATE (memory:Memory:Semantic {
  tenant_id: 'bench', id: 'k' + i, persona_id: 'ada', memory_type: 'semantic', state: 'active',
  flagged: false, minimized: false, text: 'It is so.', content: '{}', weight_modifier: 1.0,
  said_at: message.said_at, importance: 5, salience: 0.5, pinned: false, access_count: 0
})-[:DRAWN_FROM]->(message)
"""
LINK = """
MATCH (memory:Memory {tenant_id: 'bench'})
WITH memory, toInteger(substring(memory.id, 1)) AS i
UNWIND [1, 7, 31, 101] AS far
MATCH (other:Memory {tenant_id: 'bench', id: 'k' + ((i + far) % $messages)})
CREATE (memory)-[:RELATED {strength: 0.5, weight_modifier: 1.0, coactivations: 0}]->(other)
"""
ONE_ROW = "CREATE (:Bare {id: $id, at: $at})"


Timings = dict[str, list[float]]  # seconds, by what was timed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--messages", type=int, default=MESSAGES)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, private_neo4j(Path(folder)) as settings:
        return asyncio.run(measure(settings, arguments.rounds, arguments.messages))


async def measure(settings: Settings, rounds: int, messages: int) -> int:
    graph = Graph.open(settings).with_limit(120)
    try:
        await prepare(graph, settings, messages)
        timings: Timings = {}
        for turn in range(-rounds // 5, rounds):  # negative turns warm up and are not counted
            counted = timings if turn >= 0 else {}
            await time_one_message(graph, counted, f"m{(turn * 37) % messages}")
        short, long = min(100, messages // 10), min(1_000, messages)
        for turn in range(-1, max(3, rounds // 40)):
            for size in (short, long):
                await time_range(graph, timings if turn >= 0 else {}, size)
        return report(timings, short, long)
    finally:
        await graph.close()


async def prepare(graph: Graph, settings: Settings, messages: int) -> None:
    await migrate(graph)
    await claim_model(graph, open_embedder(settings))
    await add_tenant(graph, "bench", name="Bench", now=NOW)
    ada = Persona("ada", "Ada", Tone.WARM, "UTC", NOW, NOW)
    await add_persona(graph, "bench", ada)
    await add_instance(graph, "bench", Instance("studio", "Studio", NOW))
    await add_conversation(graph, CALLER, Conversation("monday", "studio", ["ada"], NOW, None))
    for statement in (LOAD, LINK):
        await bare(graph, statement, messages=messages, now=NOW)
    await bare(graph, "CALL db.prepareForReplanning()")


async def time_one_message(graph: Graph, timings: Timings, message_id: str) -> None:
    source = ReversalSource.MEMORY_MANAGER
    with timed(timings, "bare"):
        await bare(graph, ONE_ROW, id=new_id(), at=NOW)
    with timed(timings, "flag"):
        await flag_message(graph, Templates(), CALLER, message_id, RULES, now=NOW)
    with timed(timings, "undo"):
        await undo_message(graph, CALLER, message_id, source, RULES, now=NOW)


async def time_range(graph: Graph, timings: Timings, size: int) -> None:
    with timed(timings, f"range of {size}"):
        result = await flag_range(
            graph,
            Templates(),
            CALLER,
            "monday",
            first_id="m0",
            last_id=f"m{size - 1}",
            confirmed=True,
            rules=RULES,
            now=NOW,
        )
    if len(result.changed) != size:
        raise RuntimeError(f"{len(result.changed)} of {size} were flagged")
    await undo_range(
        graph,
        CALLER,
        str(result.range_id),
        ReversalSource.MEMORY_MANAGER,
        RULES,
        message_ids=None,
        now=NOW,
    )


@contextmanager
def timed(timings: Timings, name: str) -> Iterator[None]:
    """Add the seconds that the block takes."""
    started = time.perf_counter()
    yield
    timings.setdefault(name, []).append(time.perf_counter() - started)


def report(timings: Timings, short: int, long: int) -> int:
    medians = {name: statistics.median(times) * 1000 for name, times in timings.items()}
    floor = medians["bare"]
    table = Table("medians", "milliseconds", "times the bare write", "goal", "met")
    table.add_row("bare write of one row", f"{floor:.2f}", "1.00", "", "")
    ratio = medians["flag"] / floor
    table.add_row(
        "flag one message", f"{medians['flag']:.2f}", f"{ratio:.2f}", *goal(ratio, MAX_RATIO)
    )
    table.add_row("undo one message", f"{medians['undo']:.2f}", f"{medians['undo'] / floor:.2f}")
    per_message = {size: medians[f"range of {size}"] / size for size in (short, long)}
    for size, milliseconds in per_message.items():
        name = f"flag a range of {size}, per message"
        table.add_row(name, f"{milliseconds:.3f}", f"{milliseconds / floor:.3f}")
    growth = per_message[long] / per_message[short]
    name = f"per message at {long}, times that at {short}"
    table.add_row(name, "", f"{growth:.2f}", *goal(growth, MAX_GROWTH))
    Console(width=110).print(table)
    return 0


def goal(measured: float, limit: float) -> tuple[str, str]:
    return f"≤ {limit}", "yes" if measured <= limit else "no"


if __name__ == "__main__":
    sys.exit(main())
