"""Measures what forgotten shapes are worth, and what they cost, on real conversations.

Takes the files of `bench.quality`. Each conversation is lived through; then every second session
is lost: what was drawn from it is archived, a session a day, and each day's night draws its shape.
All questions are asked twice of the same graph, with shapes and without. Printed are

- how many questions whose evidence is lost have a shape that covers all of it, drawn from memories
  of it, among the first ten hits ("almost remembering"), by how many lost sessions there are;
- what recall@10 of the questions whose evidence is alive loses by having shapes;
- how many bytes the shapes take of what they replaced.

The session of a message is where the data says it is. A message is alive while an active memory is
drawn from it, and lost when an archived one is and no active one: the nights archive by themselves,
too. A question with evidence of both kinds counts in neither group.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.ingest import read_talks
from bench.private import bare, run_on_data
from bench.quality import CALLER, interval, read_questions, simulate
from engine.embedding import open_embedder
from engine.memory import archive_memory
from engine.models import MemoryType
from engine.night import NightTools, open_night_tools, run_night
from engine.recall import Filters, Recall
from engine.settings import Settings
from engine.store import Graph

HOT_BYTES = 2**30
FIRST_HITS = 10
WITHOUT_SHAPES = Filters(
    types=tuple(it for it in MemoryType if it is not MemoryType.FORGOTTEN_SHAPE)
)
DAY = timedelta(days=1)
GOALS = {"covered": 0.70, "lost": 0.005, "bytes": 0.05}

# The messages behind every memory, through the memories a shape was drawn from.
SOURCES = """
MATCH (memory:Memory {tenant_id: $tenant_id})-[:DRAWN_FROM]->(message:Message)
WHERE memory.distilled_at IS NULL
OPTIONAL MATCH (memory)-[:SHAPED_INTO*]->(shape:ForgottenShape)
RETURN
  memory.id AS id,
  memory.persona_id AS persona_id,
  memory.state AS state,
  collect(DISTINCT message.id) AS messages,
  collect(DISTINCT shape.id) AS shapes
"""
# What a memory, or a shape with its experience, stores; a number or a time takes eight bytes.
BYTES = """
MATCH (memory:Memory {tenant_id: $tenant_id, state: $state})
WHERE (memory:ForgottenShape) = $shapes
OPTIONAL MATCH (memory)-[:FELT_AS]->(experience)
UNWIND [memory, experience] AS node
UNWIND [key IN keys(node) | node[key]] AS value
RETURN
  sum(
    CASE
      WHEN value IS :: STRING THEN size(value)
      WHEN value IS :: LIST<ANY> THEN 8 * size(value)
      ELSE 8
    END) AS bytes
"""
PACKED_VECTORS = """
MATCH (memory:Memory {tenant_id: $tenant_id, state: $state})
WHERE (memory:ForgottenShape) = $shapes
RETURN memory.packed_vectors AS packed
"""


@dataclass(frozen=True)
class Life:
    """What became of the messages of all conversations."""

    alive: frozenset[str]  # messages that an active memory is drawn from
    lost: frozenset[str]  # messages that only archived memories are drawn from
    messages: Mapping[str, frozenset[str]]  # behind each memory
    covered: Mapping[str, frozenset[str]]  # messages of which a shape was drawn, by shape
    sessions: Mapping[str, int]  # lost ones of each conversation


def lost_sessions(data: Path) -> dict[str, list[list[str]]]:
    """The ids of the messages of every second session of each conversation."""
    lost: dict[str, list[list[str]]] = {}
    for conversation in map(json.loads, data.read_text().splitlines()):
        name, sessions = conversation["conversation"], defaultdict(list)
        for turn in conversation["turns"]:
            sessions[turn["session"]].append(f"{name}.{turn['id']}")
        lost[name] = list(sessions.values())[1::2]
    return lost


async def lose(
    graph: Graph, tools: NightTools, sessions: Mapping[str, Sequence[Sequence[str]]], now: datetime
) -> datetime:
    """Archive what was drawn from these sessions, one a day, with a night after each."""
    rows = await bare(graph, SOURCES, tenant_id=CALLER.tenant_id)
    latest = now
    for talk, lost in track(sessions.items(), "Forgetting"):
        day, mine = now, [row for row in rows if row["persona_id"] == talk]
        for session in lost:
            gone = frozenset(session)
            for row in mine:
                if gone.issuperset(row["messages"]):
                    await archive_memory(graph, CALLER, row["id"], now=day)
            day += DAY
            await run_night(graph, CALLER.tenant_id, talk, now=day, started_by="bench", tools=tools)
        latest = max(latest, day)
    return latest


async def read_life(graph: Graph, sessions: Mapping[str, Sequence[Sequence[str]]]) -> Life:
    rows = await bare(graph, SOURCES, tenant_id=CALLER.tenant_id)
    covered: dict[str, set[str]] = defaultdict(set)
    by_state: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        by_state[row["state"]].update(row["messages"])
        for shape in row["shapes"]:
            covered[shape].update(row["messages"])
    return Life(
        frozenset(by_state["active"]),
        frozenset(by_state["archived"] - by_state["active"]),
        {row["id"]: frozenset(row["messages"]) for row in rows},
        {shape: frozenset(messages) for shape, messages in covered.items()},
        {talk: len(lost) for talk, lost in sessions.items()},
    )


@dataclass(frozen=True)
class Answer:
    """The first hits of one question, and the messages that are its evidence."""

    talk: str
    evidence: frozenset[str]
    hits: tuple[str, ...]

    def recall(self, life: Life) -> float:
        nothing = frozenset[str]()
        found = nothing.union(*(life.messages.get(hit, nothing) for hit in self.hits))
        return len(self.evidence & found) / len(self.evidence)

    def is_covered(self, life: Life) -> bool:
        """Whether shapes among the hits were drawn from memories of all the evidence."""
        nothing = frozenset[str]()
        return self.evidence <= nothing.union(
            *(life.covered.get(hit, nothing) for hit in self.hits)
        )


async def ask(
    recall: Recall, questions: Sequence[dict[str, Any]], filters: Filters, now: datetime
) -> list[Answer]:
    answers = []
    for question in questions:
        talk = question["talk"]
        recalled = await recall.recall(
            CALLER.tenant_id,
            talk,
            question["question"],
            now=now,
            limit=FIRST_HITS,
            filters=filters,
            asked_by=question.get("asked_by"),
        )
        evidence = frozenset(f"{talk}.{turn}" for turn in question["evidence"])
        answers.append(Answer(talk, evidence, tuple(hit.id for hit in recalled.hits)))
    return answers


async def stored_bytes(graph: Graph, *, state: str, shapes: bool) -> int:
    """About how many bytes the properties of memories or of shapes take."""
    which = {"tenant_id": CALLER.tenant_id, "state": state, "shapes": shapes}
    (properties,) = await bare(graph, BYTES, **which)
    packed = await bare(graph, PACKED_VECTORS, **which)
    total: int = properties["bytes"] + sum(len(row["packed"]) for row in packed)
    return total


def report(
    console: Console, life: Life, answers: Sequence[Answer], plain: Sequence[Answer]
) -> tuple[float, float]:
    """Print both shares. Returns how many lost questions are covered, and what the living lose."""
    lost = [answer for answer in answers if answer.evidence <= life.lost]
    pairs = [
        (answer.recall(life), before.recall(life))
        for answer, before in zip(answers, plain, strict=True)
        if answer.evidence <= life.alive
    ]
    table = Table("conversations with", "questions", "covered by a shape in the first ten", "95 %")
    groups = {f"{number} lost sessions": number for number in sorted({*life.sessions.values()})}
    for name, number in {**groups, "all": None}.items():
        values = [
            float(answer.is_covered(life))
            for answer in lost
            if number in (None, life.sessions[answer.talk])
        ]
        if values:
            low, high = interval(values)
            table.add_row(
                name, str(len(values)), f"{np.mean(values):.1%}", f"{low:.1%} to {high:.1%}"
            )
    console.print(table)
    with_shapes, without = (float(np.mean(column)) for column in zip(*pairs, strict=True))
    low, high = interval([before - after for after, before in pairs])
    console.print(
        f"{len(pairs)} questions whose evidence is alive: recall@10 {with_shapes:.2%} with shapes, "
        f"{without:.2%} without; {100 * (without - with_shapes):.2f} points less "
        f"({100 * low:.2f} to {100 * high:.2f}; goal ≤ {100 * GOALS['lost']:.1f})"
    )
    covered = float(np.mean([answer.is_covered(life) for answer in lost]))
    console.print(f"{covered:.1%} of {len(lost)} lost questions covered (goal ≥ 70 %)")
    return covered, without - with_shapes


async def measure(settings: Settings, data: Path, console: Console) -> int:
    graph = Graph.open(settings).with_limit(300)
    embedder = open_embedder(settings)
    recall = Recall(graph, embedder, seconds=600, hot_bytes=HOT_BYTES)
    try:
        now = await simulate(graph, embedder, read_talks(data))
        sessions = lost_sessions(data)
        now = await lose(graph, open_night_tools(settings, embedder), sessions, now)
        life, questions = await read_life(graph, sessions), read_questions(data)
        await ask(recall, questions, WITHOUT_SHAPES, now)
        await recall.loaded()
        plain = await ask(recall, questions, WITHOUT_SHAPES, now)
        answers = await ask(recall, questions, Filters(), now)
        covered, lost = report(console, life, answers, plain)
        replaced = await stored_bytes(graph, state="archived", shapes=False)
        taken = await stored_bytes(graph, state="active", shapes=True)
    finally:
        await recall.close()
        embedder.close()
        await graph.close()
    share = taken / replaced
    console.print(
        f"{len(life.covered)} shapes take {taken:,} bytes, {share:.2%} of the {replaced:,} "
        "of what they replaced (goal ≤ 5 %)"
    )
    return int(covered < GOALS["covered"] or lost > GOALS["lost"] or share > GOALS["bytes"])


if __name__ == "__main__":
    sys.exit(run_on_data(measure, __doc__))
