"""Looks for flagged messages in everything a persona answers, on real conversations.

Takes files of LoCoMo and of BEAM. Each conversation is recorded and has its night, and its persona
is asked until it is kept in memory. Then every third topic is flagged. All questions and the
flagged texts themselves are asked of recall, from memory and from the graph, and of context; waking
(hydrate), checkpoints and an export without flagged messages are read as well. A leak is a sentence
that only flagged messages contain, in an answer that is not marked as fallback.

Also measured: how much recall is lost for questions without flagged evidence, and how often the
fallback is used at each threshold. It should be used for questions whose evidence is all flagged
and for flagged texts that had become memories, and not for questions without flagged evidence.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.forget import RULES
from bench.ingest import Talk, read_talks
from bench.private import bare, run_on_data
from bench.quality import CALLER, HOT_BYTES, SOURCES, ask, read_questions, simulate
from engine.embedding import Embedder, open_embedder
from engine.forgetting import Templates, flag_range
from engine.policy import Layer, set_persona_policy
from engine.recall import ContextRequest, Recall, assemble_context, hydrate
from engine.settings import Settings
from engine.store import Graph
from engine.talk import ExportFormat, export_conversation, list_checkpoints, make_checkpoints
from engine.text import sentences

FLAGGED_TOPICS = 3  # every third
MIN_WORDS = 5  # of a sentence that counts
MAX_RECALL_LOSS = 0.005  # of recall@10, for questions without flagged evidence
THRESHOLDS = (0.40, 0.45, 0.50, 0.55, 0.60, 0.65)
MEMORY, GRAPH = "recall from memory", "recall from the graph"
SOURCES_OF_LEAKS = (MEMORY, GRAPH, "context", "waking", "checkpoints", "export")
ALL_FLAGGED, FLAGGED_TEXT, NONE_FLAGGED = "all flagged", "flagged text", "none flagged"


@dataclass(frozen=True)
class FlaggedMessages:
    """What was flagged in one conversation."""

    ids: frozenset[str]
    texts: dict[str, str]  # by id
    sentences: list[str]  # that no other message contains

    def leak_into(self, answer: str) -> bool:
        return any(sentence in answer for sentence in self.sentences)


@dataclass
class Findings:
    """Leaks by where they were; uses of the fallback by threshold and kind of query."""

    leaks: Counter[str] = field(default_factory=Counter)
    fallbacks: dict[tuple[float, str], list[bool]] = field(default_factory=dict)


async def flag_topics(graph: Graph, talk: Talk, now: datetime) -> FlaggedMessages:
    """Flag every third topic of a conversation."""
    await make_checkpoints(graph, CALLER.tenant_id, talk.name, now=now)
    checkpoints = await list_checkpoints(graph, CALLER, talk.name, limit=10_000)
    ids: set[str] = set()
    for checkpoint in checkpoints.items[::FLAGGED_TOPICS]:
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
    texts = {
        message.message_id: message.content
        for message in talk.messages
        if message.message_id in ids
    }
    others = "\n".join(
        message.content for message in talk.messages if message.message_id not in ids
    )
    only_flagged = [
        sentence
        for text in texts.values()
        for sentence in sentences(text)
        if len(sentence.split()) >= MIN_WORDS and sentence not in others
    ]
    return FlaggedMessages(frozenset(ids), texts, only_flagged)


async def count_leaks(
    graph: Graph,
    embedder: Embedder,
    recall: Recall,
    talk: str,
    flagged: FlaggedMessages,
    queries: Sequence[str],
    now: datetime,
) -> Counter[str]:
    """The number of leaks, by where they were. `recall` has the persona in memory."""
    leaks: Counter[str] = Counter()
    from_graph = Recall(graph, embedder, seconds=600)
    for query in track(queries, talk):
        for source, asked in ((MEMORY, recall), (GRAPH, from_graph)):
            recalled = await asked.recall(CALLER.tenant_id, talk, query, now=now, limit=20)
            leaks[source] += sum(
                flagged.leak_into(hit.text) for hit in recalled.hits if not hit.deprioritized
            )
        request = ContextRequest(talk, query)
        context = await assemble_context(graph, recall, embedder, CALLER, talk, request, now=now)
        leaks["context"] += sum(
            flagged.leak_into(piece.content) for piece in context.pieces if not piece.deprioritized
        )
    for seed in range(20):
        woken = await hydrate(graph, embedder, CALLER.tenant_id, talk, now=now, seed=seed)
        leaks["waking"] += sum(flagged.leak_into(piece.content) for piece in woken.pieces)
    checkpoints = await list_checkpoints(graph, CALLER, talk, limit=10_000)
    leaks["checkpoints"] += sum(
        flagged.leak_into(checkpoint.summary) for checkpoint in checkpoints.items
    )
    for format_ in ExportFormat:
        parts = await export_conversation(
            graph,
            CALLER,
            talk,
            format=format_,
            exclude_flagged=True,
            first_id=None,
            last_id=None,
        )
        leaks["export"] += flagged.leak_into("".join([part async for part in parts]))
    return leaks


async def measure_fallbacks(
    graph: Graph,
    embedder: Embedder,
    talk: str,
    queries: Sequence[tuple[str, str]],  # kind and text
    now: datetime,
) -> dict[tuple[float, str], list[bool]]:
    """Whether the fallback was used, for each query, by threshold and kind."""
    used: dict[tuple[float, str], list[bool]] = {}
    for threshold in THRESHOLDS:
        layer = Layer(figures={"forget_fallback_threshold": threshold})
        await set_persona_policy(graph, CALLER.tenant_id, talk, layer)
        recall = Recall(graph, embedder, seconds=600)
        for kind, query in queries:
            answer = await recall.recall(CALLER.tenant_id, talk, query, now=now)
            used.setdefault((threshold, kind), []).append(answer.fallback)
    return used


async def measure(settings: Settings, data: Path, console: Console) -> int:
    graph = Graph.open(settings).with_limit(120)
    embedder = open_embedder(settings)
    findings = Findings()
    recall = Recall(graph, embedder, seconds=600, hot_bytes=HOT_BYTES)
    try:
        talks, questions = read_talks(data), read_questions(data)
        now = await simulate(graph, embedder, talks)
        await ask(recall, graph, questions, now, recall.profile)
        await recall.loaded()
        before = await ask(recall, graph, questions, now, recall.profile)
        flagged = {talk.name: await flag_topics(graph, talk, now) for talk in talks}
        after = await ask(recall, graph, questions, now, recall.profile)
        for name, messages in flagged.items():
            of_talk = [question for question in questions if question["talk"] == name]
            await examine(graph, embedder, recall, name, messages, of_talk, now, findings)
    finally:
        await recall.close()
        embedder.close()
        await graph.close()
    losses = [
        earlier.recall(10) - later.recall(10)
        for question, earlier, later in zip(questions, before, after, strict=True)
        if kind_of(question, flagged[question["talk"]]) == NONE_FLAGGED
    ]
    loss = float(np.mean(losses)) if losses else 0.0
    total = sum(len(messages.ids) for messages in flagged.values())
    table = Table("messages flagged", f"{total} of {sum(len(talk.messages) for talk in talks)}")
    for source in SOURCES_OF_LEAKS:
        table.add_row(f"leaks in {source}", str(findings.leaks[source]))
    table.add_row("recall@10 lost where nothing was flagged", f"{loss:.2%} of {len(losses)}")
    console.print(table)
    show_fallbacks(console, findings)
    return int(findings.leaks.total() > 0 or loss > MAX_RECALL_LOSS)


async def examine(
    graph: Graph,
    embedder: Embedder,
    recall: Recall,
    talk: str,
    flagged: FlaggedMessages,
    questions: Sequence[dict[str, Any]],
    now: datetime,
    findings: Findings,
) -> None:
    """Add the leaks and fallbacks of one conversation to the findings."""
    texts = [*(question["question"] for question in questions), *flagged.texts.values()]
    findings.leaks += await count_leaks(graph, embedder, recall, talk, flagged, texts, now)
    rows = await bare(graph, SOURCES, tenant_id=CALLER.tenant_id)
    remembered = {message_id for row in rows for message_id in row["messages"]}
    queries = [
        *((kind_of(question, flagged), question["question"]) for question in questions),
        *((FLAGGED_TEXT, text) for id_, text in flagged.texts.items() if id_ in remembered),
    ]
    queries = [query for query in queries if query[0]]
    for key, used in (await measure_fallbacks(graph, embedder, talk, queries, now)).items():
        findings.fallbacks.setdefault(key, []).extend(used)


def show_fallbacks(console: Console, findings: Findings) -> None:
    kinds = (ALL_FLAGGED, FLAGGED_TEXT, NONE_FLAGGED)
    table = Table("fallback used at threshold", *kinds)
    for threshold in THRESHOLDS:
        cells = []
        for kind in kinds:
            used = findings.fallbacks.get((threshold, kind), [])
            cells.append(f"{np.mean(used):.1%} of {len(used)}" if used else "not asked")
        table.add_row(f"{threshold:.2f}", *cells)
    console.print(table)


def kind_of(question: dict[str, Any], flagged: FlaggedMessages) -> str:
    """Whether all or none of a question's evidence is flagged; empty for a part of it."""
    evidence = {f"{question['talk']}.{turn}" for turn in question["evidence"]}
    if evidence <= flagged.ids:
        return ALL_FLAGGED
    return "" if evidence & flagged.ids else NONE_FLAGGED


if __name__ == "__main__":
    sys.exit(run_on_data(measure, __doc__))
