"""How much of what answers a question a persona recalls, on LoCoMo's conversations.

Each conversation is one persona's life: its turns go in as messages, candidates are drawn, a night
turns them into memories, and every question is asked through the function behind the API. A hit
counts for the turns it was drawn from; one distilled from several episodes counts for none.

Then the ablation: of each persona there are copies in which every other question counts as
use (Hebbian), in which two months pass (decay), and both; the other questions are asked of all.

recall@k is the share of a question's evidence turns among the first k hits, the mean of all
questions; hit@10 is any of them; MRR is 1 / the rank of the first. The intervals are bootstrapped.
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
from bench.private import bare, over_data
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
WINDOW = timedelta(hours=24)
AT = (5, 10, 20)
GOALS = {"all": 0.84, "multi_hop": 0.60}  # recall@10
RESAMPLED = 2000
MONTHS = timedelta(days=60)
# Whether what is recalled counts as used, and how much time passes.
ABLATION = {
    "plain": (False, timedelta(0)),
    "hebbian": (True, timedelta(0)),
    "decay": (False, MONTHS),
    "both": (True, MONTHS),
}

SOURCES = """
MATCH (memory:Candidate|Memory {tenant_id: $tenant_id})-[:DRAWN_FROM]->(message:Message)
WHERE memory.distilled_at IS NULL
RETURN memory.id AS id, collect(message.id) AS messages
"""


@dataclass(frozen=True)
class Asked:
    """One question, and where its evidence was found."""

    talk: str
    category: str
    evidence: frozenset[str]
    found: tuple[frozenset[str], ...]  # the messages behind each hit, the best first

    def recall(self, k: int) -> float:
        seen = frozenset().union(*self.found[:k])
        return len(self.evidence & seen) / len(self.evidence)

    @property
    def reciprocal(self) -> float:
        ranks = (rank for rank, it in enumerate(self.found, 1) if it & self.evidence)
        return 1 / next(ranks, np.inf)


def questions(data: Path) -> list[dict[str, Any]]:
    """Every question, with the name of its conversation."""
    lives = map(json.loads, data.read_text().splitlines())
    return [
        {**question, "talk": life["conversation"]}
        for life in lives
        for question in life["questions"]
    ]


async def live(graph: Graph, embedder: Embedder, talks: Sequence[Talk]) -> datetime:
    """Let each persona live through its conversation and sleep on it. Returns the morning after."""
    morning = max(talk.messages[-1].timestamp for talk in talks) + timedelta(days=3)
    await migrate(graph)
    await claim_model(graph, embedder)
    await add_tenant(graph, CALLER.tenant_id, name="Bench", now=morning)
    await add_instance(graph, CALLER.tenant_id, Instance("bench", "Bench", morning))
    for talk in track(talks, "Living"):
        persona = Persona(talk.name, "Pentimento", Tone.PLAIN, "UTC", morning, morning)
        await add_persona(graph, CALLER.tenant_id, persona)
        opened = Conversation(talk.name, "bench", [talk.name], morning)
        await add_conversation(graph, CALLER, opened)
        for batch in talk.batches:
            said = batch[-1].timestamp
            await record_messages(graph, CALLER, talk.name, batch, now=said)
            await draw_candidates(
                graph, embedder, RuleExtractor(), CALLER.tenant_id, talk.name, now=said
            )
        await run_night(
            graph,
            CALLER.tenant_id,
            talk.name,
            now=talk.messages[-1].timestamp + timedelta(days=2),
            started_by="bench",
        )
    return morning


async def ask(
    recall: Recall,
    graph: Graph,
    asked: Sequence[dict[str, Any]],
    now: datetime,
    profile: str,
    copy: str = "",
) -> list[Asked]:
    """Ask every question, as the API would, of the persona or a copy of it."""
    rows = await bare(graph, SOURCES, tenant_id=CALLER.tenant_id)
    sources = {row["id"]: frozenset(row["messages"]) for row in rows}
    done = []
    for question in asked:
        recalled = await recall.recall(
            CALLER.tenant_id,
            question["talk"] + copy,
            question["question"],
            now=now,
            limit=max(AT),
            profile=profile,
        )
        done.append(
            Asked(
                question["talk"],
                question["category_name"],
                frozenset(f"{question['talk']}.{turn}" for turn in question["evidence"]),
                tuple(sources.get(hit.id, frozenset()) for hit in recalled.hits),
            )
        )
    return done


async def ablate(
    recall: Recall, graph: Graph, asked: Sequence[dict[str, Any]], now: datetime, console: Console
) -> list[str]:
    """What use and time do to what is recalled, each alone and together.

    Returns what surely makes it worse than neither, and so has to be off by default.
    """
    reached: dict[str, list[float]] = {}
    taught, held_out = asked[::2], asked[1::2]
    table = Table("ablation", "recall@10", "95 %", "MRR")
    for name, (use, wait) in ABLATION.items():
        copy = f"-{name}"
        for talk in sorted({question["talk"] for question in asked}):
            await duplicate_persona(graph, CALLER.tenant_id, talk, copy_id=talk + copy, now=now)
        if use:
            await use_all(recall, graph, taught, now, copy)
        for talk in sorted({question["talk"] for question in asked}):
            await run_night(
                graph,
                CALLER.tenant_id,
                talk + copy,
                now=now + wait,
                started_by="bench",
            )
        told = await ask(recall, graph, held_out, now + wait, recall.profile, copy)
        values = reached[name] = [it.recall(10) for it in told]
        low, high = interval(values)
        mrr = np.mean([it.reciprocal for it in told])
        table.add_row(name, f"{np.mean(values):.1%}", f"{low:.1%} to {high:.1%}", f"{mrr:.3f}")
    console.print(table)
    return [name for name in reached if lowers_quality(reached["plain"], reached[name])]


def lowers_quality(plain: Sequence[float], changed: Sequence[float]) -> bool:
    """Whether the same questions are answered worse, question by question, beyond chance."""
    _, high = interval(np.subtract(changed, plain).tolist())
    return high < 0


async def use_all(
    recall: Recall, graph: Graph, asked: Sequence[dict[str, Any]], now: datetime, copy: str
) -> None:
    """Ask, and let what is told count as used."""
    for number, question in enumerate(asked):
        whose = question["talk"] + copy
        told = await recall.recall(CALLER.tenant_id, whose, question["question"], now=now)
        used = tuple(hit.id for hit in told.hits)
        use = Use(f"{whose}-{number}", CALLER.tenant_id, whose, used, now)
        await count_uses(graph, [use], whole=False)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The middle 95 % of what other questions of the same kind would have given."""
    drawn = np.random.default_rng(7).choice(values, (RESAMPLED, len(values)))
    low, high = np.percentile(drawn.mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def report(console: Console, told: str, asked: Sequence[Asked]) -> dict[str, float]:
    """Print what was recalled, by category. Returns recall@10 of each, and of all."""
    console.print(told)
    table = Table("questions", "", *(f"recall@{k}" for k in AT), "95 % of @10", "hit@10", "MRR")
    reached = {}
    for name in [*sorted({it.category for it in asked}), "all"]:
        some = [it for it in asked if name in ("all", it.category)]
        means = {k: float(np.mean([it.recall(k) for it in some])) for k in AT}
        low, high = interval([it.recall(10) for it in some])
        table.add_row(
            name,
            str(len(some)),
            *(f"{means[k]:.1%}" for k in AT),
            f"{low:.1%} to {high:.1%}",
            f"{np.mean([it.recall(10) > 0 for it in some]):.1%}",
            f"{np.mean([it.reciprocal for it in some]):.3f}",
        )
        reached[name] = means[10]
    console.print(table)
    return reached


async def measure(settings: Settings, data: Path, console: Console) -> int:
    graph = Graph.open(settings).with_limit(120)
    embedder = open_embedder(settings)
    try:
        now = await live(graph, embedder, read_talks(data))
        asked = questions(data)
        recall = Recall(graph, embedder, seconds=600)
        for profile in ("published", "woven"):
            reached = report(console, profile, await ask(recall, graph, asked, now, profile))
        harmful = await ablate(recall, graph, asked, now, console)
    finally:
        embedder.close()
        await graph.close()
    missed = [name for name, goal in GOALS.items() if reached.get(name, 1.0) < goal]
    for name in missed:
        console.print(f"{name}: {reached[name]:.1%} is less than {GOALS[name]:.0%}")
    for name in harmful:
        console.print(f"{name}: recalls less than plain; this default has to be turned off")
    return int(bool(missed or harmful))


if __name__ == "__main__":
    sys.exit(over_data(measure, __doc__))
