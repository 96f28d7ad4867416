"""What «Forget This» costs beside a bare write of one row.

A conversation of a real size, with candidates and memories drawn from every message, and links
between those. One message is flagged and taken back, over and over, in turns with a bare
transaction through the same driver that writes one row; then ranges of 100 and of 1,000, to see
that a longer one costs as much more as it is longer.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
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
SINGLE_LIMIT, GROWTH_LIMIT = 3.0, 1.2

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
BARE = "CREATE (:Bare {id: $id, at: $at})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--messages", type=int, default=MESSAGES)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, private_neo4j(Path(folder)) as settings:
        return asyncio.run(measure(settings, given.rounds, given.messages))


async def measure(settings: Settings, rounds: int, messages: int) -> int:
    graph = Graph.open(settings).with_limit(120)
    try:
        await prepare(graph, settings, messages)
        taken: dict[str, list[float]] = {}
        for turn in range(-rounds // 5, rounds):  # the first ones warm up and are not counted
            counted = taken if turn >= 0 else {}
            await one_turn(graph, counted, f"m{(turn * 37) % messages}")
        short, long = min(100, messages // 10), min(1_000, messages)
        for turn in range(-1, max(3, rounds // 40)):
            for size in (short, long):
                await one_range(graph, taken if turn >= 0 else {}, size)
        return report(taken, short, long)
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


async def one_turn(graph: Graph, taken: dict[str, list[float]], message_id: str) -> None:
    later = ReversalSource.MEMORY_MANAGER
    with timed(taken, "bare"):
        await bare(graph, BARE, id=new_id(), at=NOW)
    with timed(taken, "flag"):
        await flag_message(graph, Templates(), CALLER, message_id, RULES, now=NOW)
    with timed(taken, "undo"):
        await undo_message(graph, CALLER, message_id, later, RULES, now=NOW)


async def one_range(graph: Graph, taken: dict[str, list[float]], size: int) -> None:
    with timed(taken, f"range of {size}"):
        done = await flag_range(
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
    if len(done.changed) != size:
        raise RuntimeError(f"{len(done.changed)} of {size} were flagged")
    await undo_range(
        graph,
        CALLER,
        str(done.range_id),
        ReversalSource.MEMORY_MANAGER,
        RULES,
        message_ids=None,
        now=NOW,
    )


class timed:  # noqa: N801  reads as a word in the with statement
    def __init__(self, taken: dict[str, list[float]], name: str) -> None:
        self._taken, self._name = taken, name

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        spent = time.perf_counter() - self._started
        self._taken.setdefault(self._name, []).append(spent)


def report(taken: dict[str, list[float]], short: int, long: int) -> int:
    middle = {name: statistics.median(times) * 1000 for name, times in taken.items()}
    table = Table("what", "milliseconds", "ratio", "goal", "met")
    floor = middle["bare"]
    table.add_row("a bare write of one row", f"{floor:.2f}", "1.00", "", "")
    for name in ("flag", "undo"):
        ratio = middle[name] / floor
        goal, met = (f"≤ {SINGLE_LIMIT}", ratio <= SINGLE_LIMIT) if name == "flag" else ("", None)
        table.add_row(
            f"{name} one message",
            f"{middle[name]:.2f}",
            f"{ratio:.2f}",
            goal,
            "" if met is None else ("yes" if met else "no"),
        )
    each = {size: middle[f"range of {size}"] / size for size in (short, long)}
    for size in (short, long):
        table.add_row(
            f"a range of {size}, for each message", f"{each[size]:.3f}", f"{each[size] / floor:.3f}"
        )
    growth = each[long] / each[short]
    table.add_row(
        f"growth from {short} to {long}",
        "",
        f"{growth:.2f}",
        f"≤ {GROWTH_LIMIT}",
        "yes" if growth <= GROWTH_LIMIT else "no",
    )
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
