"""Measures how much of the evidence for a question recall finds, on LoCoMo's conversations.

Each conversation has its own persona: its turns are recorded as messages, candidates are drawn, a
night turns them into memories, and every question is asked through the function behind the API. A
hit stands for the turns it was drawn from; one distilled from several episodes stands for none.

Then the ablation: each persona is copied four times. In the copies, every other question counts as
use (hebbian), or two months pass (decay), or both, or neither (plain). The remaining questions are
asked of each copy.

recall@k is the share of a question's evidence turns among the first k hits, averaged over all
questions; hit@10 is the share of questions with any of it; MRR is the mean of 1 / the rank of the
first. The intervals are bootstrapped.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.ingest import Talk, read_talks
from bench.private import bare, run_on_data
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
from engine.embedding import Embedder, claim_model, open_embedder
from engine.extraction import RuleExtractor
from engine.memory import Use, count_uses, draw_candidates, duplicate_persona
from engine.night import run_night
from engine.recall import Recall
from engine.settings import Settings
from engine.store import Graph, migrate
from engine.talk import Conversation, add_conversation, record_messages

CALLER = Caller("bench", "bench", Role.ADMIN)
RANKS = (5, 10, 20)  # k of recall@k
GOALS = {"all": 0.84, "multi_hop": 0.60}  # recall@10
BOOTSTRAP_SAMPLES = 2000
TWO_MONTHS = timedelta(days=60)
# Whether recalled memories count as used, and how much time passes.
ABLATION = {
    "plain": (False, timedelta(0)),
    "hebbian": (True, timedelta(0)),
    "decay": (False, TWO_MONTHS),
    "both": (True, TWO_MONTHS),
}

SOURCES = """
MATCH (memory:Candidate|Memory {tenant_id: $tenant_id})-[:DRAWN_FROM]->(message:Message)
WHERE memory.distilled_at IS NULL
RETURN memory.id AS id, collect(message.id) AS messages
"""


@dataclass(frozen=True)
class Answer:
    """The hits of one question, and the messages that are its evidence."""

    talk: str
    category: str
    evidence: frozenset[str]
    hits: tuple[frozenset[str], ...]  # the messages behind each hit, the best first

    def recall(self, k: int) -> float:
        found = frozenset().union(*self.hits[:k])
        return len(self.evidence & found) / len(self.evidence)

    @property
    def reciprocal_rank(self) -> float:
        ranks = (rank for rank, messages in enumerate(self.hits, 1) if messages & self.evidence)
        return 1 / next(ranks, np.inf)


def read_questions(data: Path) -> list[dict[str, Any]]:
    """Every question, with the name of its conversation."""
    conversations = map(json.loads, data.read_text().splitlines())
    return [
        {**question, "talk": conversation["conversation"]}
        for conversation in conversations
        for question in conversation["questions"]
    ]


async def simulate(graph: Graph, embedder: Embedder, talks: Sequence[Talk]) -> datetime:
    """Record each conversation and run its persona's night. Returns a time after all of them."""
    now = max(talk.messages[-1].timestamp for talk in talks) + timedelta(days=3)
    await migrate(graph)
    await claim_model(graph, embedder)
    await add_tenant(graph, CALLER.tenant_id, name="Bench", now=now)
    await add_instance(graph, CALLER.tenant_id, Instance("bench", "Bench", now))
    for talk in track(talks, "Recording"):
        persona = Persona(talk.name, "Pentimento", Tone.PLAIN, "UTC", now, now)
        await add_persona(graph, CALLER.tenant_id, persona)
        conversation = Conversation(talk.name, "bench", [talk.name], now)
        await add_conversation(graph, CALLER, conversation)
        for batch in talk.batches:
            said_at = batch[-1].timestamp
            await record_messages(graph, CALLER, talk.name, batch, now=said_at)
            await draw_candidates(
                graph, embedder, RuleExtractor(), CALLER.tenant_id, talk.name, now=said_at
            )
        await run_night(
            graph,
            CALLER.tenant_id,
            talk.name,
            now=talk.messages[-1].timestamp + timedelta(days=2),
            started_by="bench",
        )
    return now


async def ask(
    recall: Recall,
    graph: Graph,
    questions: Sequence[dict[str, Any]],
    now: datetime,
    profile: str,
    copy: str = "",
) -> list[Answer]:
    """Ask every question as the API would, of the persona or of the copy with this suffix."""
    rows = await bare(graph, SOURCES, tenant_id=CALLER.tenant_id)
    sources = {row["id"]: frozenset(row["messages"]) for row in rows}
    answers = []
    for question in questions:
        recalled = await recall.recall(
            CALLER.tenant_id,
            question["talk"] + copy,
            question["question"],
            now=now,
            limit=max(RANKS),
            profile=profile,
        )
        answers.append(
            Answer(
                question["talk"],
                question["category_name"],
                frozenset(f"{question['talk']}.{turn}" for turn in question["evidence"]),
                tuple(sources.get(hit.id, frozenset()) for hit in recalled.hits),
            )
        )
    return answers


async def ablate(
    recall: Recall,
    graph: Graph,
    questions: Sequence[dict[str, Any]],
    now: datetime,
    console: Console,
) -> list[str]:
    """Print what use and time do to recall, each alone and together.

    Returns those that lower recall beyond chance and so must be off by default.
    """
    recalls: dict[str, list[float]] = {}
    used, held_out = questions[::2], questions[1::2]
    talks = sorted({question["talk"] for question in questions})
    table = Table("ablation", "recall@10", "95 %", "MRR")
    for name, (use, wait) in ABLATION.items():
        copy = f"-{name}"
        for talk in talks:
            await duplicate_persona(graph, CALLER.tenant_id, talk, copy_id=talk + copy, now=now)
        if use:
            await use_all(recall, graph, used, now, copy)
        for talk in talks:
            await run_night(
                graph,
                CALLER.tenant_id,
                talk + copy,
                now=now + wait,
                started_by="bench",
            )
        answers = await ask(recall, graph, held_out, now + wait, recall.profile, copy)
        values = recalls[name] = [answer.recall(10) for answer in answers]
        low, high = interval(values)
        mrr = np.mean([answer.reciprocal_rank for answer in answers])
        table.add_row(name, f"{np.mean(values):.1%}", f"{low:.1%} to {high:.1%}", f"{mrr:.3f}")
    console.print(table)
    return [name for name in recalls if lowers_quality(recalls["plain"], recalls[name])]


def lowers_quality(plain: Sequence[float], changed: Sequence[float]) -> bool:
    """Whether the same questions have a lower recall, beyond chance."""
    _, high = interval(np.subtract(changed, plain).tolist())
    return high < 0


async def use_all(
    recall: Recall, graph: Graph, questions: Sequence[dict[str, Any]], now: datetime, copy: str
) -> None:
    """Ask each question and count its hits as used."""
    for number, question in enumerate(questions):
        persona_id = question["talk"] + copy
        answer = await recall.recall(CALLER.tenant_id, persona_id, question["question"], now=now)
        hit_ids = tuple(hit.id for hit in answer.hits)
        use = Use(f"{persona_id}-{number}", CALLER.tenant_id, persona_id, hit_ids, now)
        await count_uses(graph, [use], whole=False)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The bootstrapped 95 % interval of the mean."""
    samples = np.random.default_rng(7).choice(values, (BOOTSTRAP_SAMPLES, len(values)))
    low, high = np.percentile(samples.mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def report(console: Console, profile: str, answers: Sequence[Answer]) -> dict[str, float]:
    """Print the figures by category. Returns recall@10 of each category, and of all."""
    console.print(profile)
    table = Table("questions", "", *(f"recall@{k}" for k in RANKS), "95 % of @10", "hit@10", "MRR")
    recall_at_10 = {}
    for name in [*sorted({answer.category for answer in answers}), "all"]:
        chosen = [answer for answer in answers if name in ("all", answer.category)]
        means = {k: float(np.mean([answer.recall(k) for answer in chosen])) for k in RANKS}
        low, high = interval([answer.recall(10) for answer in chosen])
        table.add_row(
            name,
            str(len(chosen)),
            *(f"{means[k]:.1%}" for k in RANKS),
            f"{low:.1%} to {high:.1%}",
            f"{np.mean([answer.recall(10) > 0 for answer in chosen]):.1%}",
            f"{np.mean([answer.reciprocal_rank for answer in chosen]):.3f}",
        )
        recall_at_10[name] = means[10]
    console.print(table)
    return recall_at_10


async def measure(settings: Settings, data: Path, console: Console) -> int:
    graph = Graph.open(settings).with_limit(120)
    embedder = open_embedder(settings)
    try:
        now = await simulate(graph, embedder, read_talks(data))
        questions = read_questions(data)
        recall = Recall(graph, embedder, seconds=600)
        for profile in ("published", "woven"):
            answers = await ask(recall, graph, questions, now, profile)
            recall_at_10 = report(console, profile, answers)
        harmful = await ablate(recall, graph, questions, now, console)
    finally:
        embedder.close()
        await graph.close()
    missed = [name for name, goal in GOALS.items() if recall_at_10.get(name, 1.0) < goal]
    for name in missed:
        console.print(f"{name}: {recall_at_10[name]:.1%} is less than {GOALS[name]:.0%}")
    for name in harmful:
        console.print(f"{name}: has a lower recall than plain; it must be off by default")
    return int(bool(missed or harmful))


if __name__ == "__main__":
    sys.exit(run_on_data(measure, __doc__))
