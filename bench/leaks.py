"""What of a forgotten topic still comes up, on LoCoMo's conversations.

Each persona lives through its conversation and sleeps on it. Then every third topic is flagged, and
all questions are asked, and the words that were flagged as well: of recall, of context, of what the
persona wakes up with, of checkpoints and of an export without what is flagged. None of it may say a
sentence that was only said in a flagged message, unless it is marked as fallback. It also tells
what questions whose evidence nobody flagged lose, and how often the fallback comes, by its
threshold: when it should, for a question all of whose evidence is flagged and for words that were
kept and then flagged, and when it should not, for a question none of whose evidence is.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.forget import RULES
from bench.ingest import Talk, read_talks
from bench.private import bare, over_data
from bench.quality import CALLER, SOURCES, ask, live, questions
from engine.embedding import Embedder, open_embedder
from engine.forgetting import Templates, flag_range
from engine.policy import Layer, set_persona_policy
from engine.recall import ContextRequest, Recall, assemble_context, hydrate
from engine.settings import Settings
from engine.store import Graph
from engine.talk import ExportFormat, export_conversation, list_checkpoints, make_checkpoints
from engine.text import sentences

EVERY = 3  # which topics are flagged
LEAST_WORDS = 5  # of a sentence that tells something
LOST = 0.005  # of recall@10, that flags may cost what nobody flagged
THRESHOLDS = (0.40, 0.45, 0.50, 0.55, 0.60, 0.65)


@dataclass(frozen=True)
class Forgotten:
    """What was flagged of one conversation."""

    ids: frozenset[str]
    texts: dict[str, str]  # by id
    sentences: list[str]  # that nobody said elsewhere

    def leaks(self, told: str) -> bool:
        return any(it in told for it in self.sentences)


async def forget(graph: Graph, talk: Talk, now: datetime) -> Forgotten:
    """Flag every third topic of a conversation."""
    await make_checkpoints(graph, CALLER.tenant_id, talk.name, now=now)
    found = await list_checkpoints(graph, CALLER, talk.name, limit=10_000)
    ids: set[str] = set()
    for checkpoint in found.items[::EVERY]:
        await flag_range(
            graph,
            Templates(),
            CALLER,
            talk.name,
            first_id=checkpoint.message_ids[0],
            last_id=checkpoint.message_ids[-1],
            confirmed=True,
            rules=RULES,
            now=now,
        )
        ids |= {*checkpoint.message_ids}
    flagged = [it for it in talk.messages if it.message_id in ids]
    heard = "\n".join(it.content for it in talk.messages if it.message_id not in ids)
    alone = [
        part
        for it in flagged
        for part in sentences(it.content)
        if len(part.split()) >= LEAST_WORDS and part not in heard
    ]
    return Forgotten(frozenset(ids), {it.message_id: it.content for it in flagged}, alone)


async def look(
    graph: Graph,
    embedder: Embedder,
    talk: str,
    forgotten: Forgotten,
    asked: Sequence[str],
    now: datetime,
) -> Counter[str]:
    """Where something leaked."""
    recall = Recall(graph, embedder, seconds=600)
    leaks: Counter[str] = Counter()
    for query in track(asked, talk):
        recalled = await recall.recall(CALLER.tenant_id, talk, query, now=now, limit=20)
        leaks["recall"] += sum(
            forgotten.leaks(hit.text) for hit in recalled.hits if not hit.deprioritized
        )
        wanted = ContextRequest(talk, query)
        context = await assemble_context(graph, recall, embedder, CALLER, talk, wanted, now=now)
        leaks["context"] += sum(
            forgotten.leaks(piece.content) for piece in context.pieces if not piece.deprioritized
        )
    for seed in range(20):
        woken = await hydrate(graph, embedder, CALLER.tenant_id, talk, now=now, seed=seed)
        leaks["waking"] += sum(forgotten.leaks(piece.content) for piece in woken.pieces)
    told = await list_checkpoints(graph, CALLER, talk, limit=10_000)
    leaks["checkpoints"] += sum(forgotten.leaks(it.summary) for it in told.items)
    for format_ in ExportFormat:
        written = await export_conversation(
            graph,
            CALLER,
            talk,
            format=format_,
            exclude_flagged=True,
            first_id=None,
            last_id=None,
        )
        leaks["export"] += forgotten.leaks("".join([part async for part in written]))
    return leaks


async def fallbacks(
    graph: Graph, embedder: Embedder, talk: str, asked: Sequence[tuple[str, str]], now: datetime
) -> list[tuple[float, str, bool]]:
    """At each threshold, whether the fallback came, of each kind of query."""
    found = []
    for threshold in THRESHOLDS:
        layer = Layer(figures={"forget_fallback_threshold": threshold})
        await set_persona_policy(graph, CALLER.tenant_id, talk, layer)
        recall = Recall(graph, embedder, seconds=600)
        for which, query in asked:
            told = await recall.recall(CALLER.tenant_id, talk, query, now=now)
            found.append((threshold, which, told.fallback))
    return found


async def measure(settings: Settings, data: Path, console: Console) -> int:
    graph = Graph.open(settings).with_limit(120)
    embedder = open_embedder(settings)
    leaks: Counter[str] = Counter()
    came: dict[tuple[float, str], list[bool]] = {}
    try:
        talks, asked = read_talks(data), questions(data)
        now = await live(graph, embedder, talks)
        recall = Recall(graph, embedder, seconds=600)
        before = await ask(recall, graph, asked, now, recall.profile)
        forgotten = {talk.name: await forget(graph, talk, now) for talk in talks}
        after = await ask(recall, graph, asked, now, recall.profile)
        rows = await bare(graph, SOURCES, tenant_id=CALLER.tenant_id)
        kept = {id_ for row in rows for id_ in row["messages"]}
        for talk in talks:
            gone = forgotten[talk.name]
            mine = [it for it in asked if it["talk"] == talk.name]
            texts = [*(it["question"] for it in mine), *gone.texts.values()]
            leaks += await look(graph, embedder, talk.name, gone, texts, now)
            kinds = [
                *((kind(it, gone), it["question"]) for it in mine),
                *(("its words", text) for id_, text in gone.texts.items() if id_ in kept),
            ]
            for threshold, which, fell in await fallbacks(
                graph, embedder, talk.name, [it for it in kinds if it[0]], now
            ):
                came.setdefault((threshold, which), []).append(fell)
    finally:
        embedder.close()
        await graph.close()

    lost = [
        one.recall(10) - other.recall(10)
        for it, one, other in zip(asked, before, after, strict=True)
        if kind(it, forgotten[it["talk"]]) == "none flagged"
    ]
    change = float(np.mean(lost)) if lost else 0.0
    flagged = sum(len(it.ids) for it in forgotten.values())
    table = Table("messages flagged", f"{flagged} of {sum(len(it.messages) for it in talks)}")
    for where in ("recall", "context", "waking", "checkpoints", "export"):
        table.add_row(f"leaks in {where}", str(leaks[where]))
    table.add_row("recall@10 lost where nothing was flagged", f"{change:.2%} of {len(lost)}")
    console.print(table)
    whiches = ("all flagged", "its words", "none flagged")
    table = Table("the fallback comes, threshold", *whiches)
    for threshold in THRESHOLDS:
        each = (came.get((threshold, which), []) for which in whiches)
        told = (f"{np.mean(it):.1%} of {len(it)}" if it else "never asked" for it in each)
        table.add_row(f"{threshold:.2f}", *told)
    console.print(table)
    return int(sum(leaks.values()) > 0 or change > LOST)


def kind(question: dict[str, Any], gone: Forgotten) -> str:
    """How much of a question's evidence is flagged; nothing when it is some of it."""
    evidence = {f"{question['talk']}.{turn}" for turn in question["evidence"]}
    if evidence <= gone.ids:
        return "all flagged"
    return "" if evidence & gone.ids else "none flagged"


if __name__ == "__main__":
    sys.exit(over_data(measure, __doc__))
