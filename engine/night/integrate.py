"""Integration: each candidate past its editing window becomes a memory or is merged into one."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from engine.embedding import MIN_KNOWN_SHARE, has_reliable_vector
from engine.ids import new_id
from engine.memory import Fact, as_fact, decode_content, find_held_fact
from engine.models import Row
from engine.night.steps import (
    ActiveRun,
    FormedMemory,
    Step,
    round_similarity,
    run_in_batches,
    similar_formed,
)
from engine.policy import Policy
from engine.store import Write
from engine.text import fingerprint

BATCH_SIZE = 200  # candidates in one step
NEIGHBOURS = 10  # similar memories that each candidate is compared with
LABELS = {"episodic": "Episodic", "semantic": "Semantic", "somatic": "Somatic"}


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a candidate: a new memory, or a part of an existing one."""

    candidate: Row
    merge_into: str | None  # id of a memory; None when the candidate becomes one
    similarity: float | None


async def integrate(run: ActiveRun) -> dict[str, int]:
    """Decide on all candidates in the order they were said. Returns those left, by reason."""
    formed: dict[str, FormedMemory] = {}
    await run_in_batches(
        run,
        "integrate",
        lambda write, limit: integrate_batch(run, write, formed, limit),
        batch_size=BATCH_SIZE,
        on_commit=lambda: run.formed.update(formed),
    )
    while await run.step("integrate", lambda write, _: pass_over_batch(run, write)):
        pass
    rows = await run.graph.read("night/integration/count_remaining", **run.persona_parameters)
    return {row["reason"]: row["candidates"] for row in rows}


async def integrate_batch(
    run: ActiveRun, write: Write, formed: dict[str, FormedMemory], limit: int
) -> Step | None:
    """Decide on up to `limit` candidates and apply the decisions.

    Fills `formed` with the memories of this batch. It is cleared first: a step may be retried.
    """
    formed.clear()
    rows = await write(
        "night/integration/list_eligible_candidates",
        **run.persona_parameters,
        drawn_before=run.drawn_before,
        limit=limit,
        near=NEIGHBOURS,
        similarity=min_merge_threshold(run.policy),
        legible=MIN_KNOWN_SHARE,
    )
    fact_keys = sorted({row["candidate"]["fact"] for row in rows if row["candidate"]["fact"]})
    fact_rows = await write(
        "night/integration/list_facts", **run.persona_parameters, facts=fact_keys
    )
    decisions = await asyncio.to_thread(
        decide, rows, run.formed, standing_facts(fact_rows), run.policy
    )
    formed_rows, merged_rows = await apply_decisions(run, write, decisions)
    if not formed_rows and not merged_rows:
        return None
    candidates = {row["candidate"]["id"]: row["candidate"] for row in rows}
    formed |= {row["id"]: as_formed(candidates[row["id"]]) for row in formed_rows}
    merged_count = sum(len(row["candidates"]) for row in merged_rows)
    return Step(
        {"formed": len(formed_rows), "merged": merged_count},
        {"formed": formed_rows, "merged": merged_rows},
        changed_ids=[*(row["id"] for row in formed_rows), *merged_ids(merged_rows)],
        # What could not be merged, since it was flagged meanwhile, is decided on once more.
        more=len(rows) == limit or len(formed_rows) + merged_count < len(rows),
    )


async def apply_decisions(
    run: ActiveRun, write: Write, decisions: Sequence[Decision]
) -> tuple[list[Row], list[Row]]:
    """Form new memories and merge candidates. Returns the rows of both, as they were changed."""
    candidates = [decision.candidate for decision in decisions if decision.merge_into is None]
    formed_rows = await write(
        "night/integration/form_memories",
        **run.persona_parameters,
        rows=[
            {
                "id": candidate["id"],
                "label": LABELS[candidate["memory_type"]],
                "fades_at": run.as_of
                + decay_period(run.policy, candidate["memory_type"], candidate["category"]),
            }
            for candidate in candidates
        ],
        as_of=run.as_of,
        awaits="links",
    )
    merged_rows = await write(
        "night/integration/merge_candidates",
        tenant_id=run.tenant_id,
        rows=merges_by_memory(decisions),
        as_of=run.as_of,
        figures=run.policy.as_parameter(),
    )
    return formed_rows, merged_rows


def merged_ids(merged_rows: Sequence[Row]) -> Iterator[str]:
    """The ids of memories that others were merged into, and of the candidates that were."""
    for row in merged_rows:
        yield row["memory_id"]
        yield from (candidate["id"] for candidate in row["candidates"])


async def pass_over_batch(run: ActiveRun, write: Write) -> Step | None:
    """Pass over candidates that are suppressed, and add that to the history of their flags."""
    rows = await write(
        "night/integration/pass_over_candidates",
        **run.persona_parameters,
        drawn_before=run.drawn_before,
        as_of=run.as_of,
        limit=BATCH_SIZE,
    )
    if not rows:
        return None
    await write(
        "talk/events/add_effect_events",
        tenant_id=run.tenant_id,
        ids=[row["id"] for row in rows],
        event={"id": new_id(), "action": "passed_over", "by": "engine", "at": run.as_of},
        of_flags=True,
    )
    return Step({"passed_over": len(rows)}, {"passed_over": rows}, more=len(rows) == BATCH_SIZE)


def min_merge_threshold(policy: Policy) -> float:
    """The lowest merge threshold of any type and category: less similar memories never merge."""
    return min(figures.merge_threshold for figures in policy.all_figures())


def decay_period(policy: Policy, memory_type: str, category: str | None) -> timedelta:
    """How long a memory keeps its importance without an access."""
    return timedelta(days=policy.of(memory_type, category).decay_days)


def decide(
    rows: Sequence[Row],
    formed: dict[str, FormedMemory],
    facts: dict[str, list[Fact]],
    policy: Policy,
) -> list[Decision]:
    """The decisions on candidates in their order; each may merge into what one before it formed."""
    comparable = formed | {row["candidate"]["id"]: as_formed(row["candidate"]) for row in rows}
    embeddings = [row["candidate"]["embedding"] for row in rows]
    similar = similar_formed(embeddings, comparable, min_similarity=min_merge_threshold(policy))
    existing_ids = set(formed)
    facts = {fact_key: list(held_facts) for fact_key, held_facts in facts.items()}
    decisions = []
    for row, similarities in zip(rows, similar, strict=True):
        candidate = row["candidate"]
        fact = as_fact(candidate["id"], decode_content(candidate["content"]), candidate["said_at"])
        held_facts = facts.setdefault(candidate["fact"] or "", [])
        nearby = {}  # a stated fact merges when it says the same, not when it sounds alike
        if not fact:
            this = comparable[candidate["id"]]
            nearby = {
                memory_id: similarity
                for memory_id, similarity in similarities.items()
                if memory_id in existing_ids
                and is_same_kind(this, comparable[memory_id])
                and not this.is_beside(comparable[memory_id])
                and may_be_same_time(candidate, comparable[memory_id].said_at, policy)
            }
        neighbours = mergeable_neighbours(candidate, row["near"], policy)
        decision = decide_on(candidate, neighbours, nearby, fact, held_facts, policy)
        decisions.append(decision)
        if decision.merge_into is None:
            existing_ids.add(candidate["id"])
            if fact:
                held_facts.append(fact)
    return decisions


def is_same_kind(this: FormedMemory, other: FormedMemory) -> bool:
    """Whether two may be one memory: of one type, about one subject, and comparable."""
    same_type = this.memory_type == other.memory_type
    return same_type and this.about == other.about and this.is_comparable(other)


def mergeable_neighbours(candidate: Row, neighbours: Sequence[Row], policy: Policy) -> list[Row]:
    """The memories in the graph that the candidate may be the same as."""
    return [
        memory
        for memory in neighbours
        if may_be_same_time(candidate, memory["said_at"], policy)
        and not is_beside(candidate, memory)
        and (
            memory["text"] is None or fingerprint(memory["text"]) == fingerprint(candidate["text"])
        )
    ]


def is_beside(candidate: Row, memory: Row) -> bool:
    """Whether both are passages of one message: what it says twice it may mean twice."""
    is_passage = candidate["passage"] is not None and candidate["source_id"] is not None
    return is_passage and bool(candidate["source_id"] == memory["source_id"])


def may_be_same_time(candidate: Row, said_at: datetime, policy: Policy) -> bool:
    """Whether a candidate may be what was said then; a feeling is the same only for some hours."""
    figures = policy.of(candidate["memory_type"], candidate["category"])
    distance: timedelta = abs(candidate["said_at"] - said_at)
    return candidate["memory_type"] != "somatic" or distance <= timedelta(
        hours=figures.feeling_hours
    )


def decide_on(
    candidate: Row,
    neighbours: Sequence[Row],
    nearby: dict[str, float],
    fact: Fact | None,
    held_facts: Sequence[Fact],
    policy: Policy,
) -> Decision:
    """The decision on one candidate: merge into the memory of the same fact, or the most similar.

    `neighbours` are memories in the graph; `nearby` has similarities of memories of this run.
    """
    if fact and (held := find_held_fact(fact, held_facts)):
        return Decision(candidate, held.id, None)
    similarities = nearby | {
        memory["id"]: round_similarity(memory["similarity"])
        for memory in neighbours
        if memory["about"] == candidate["about"] and not (fact and memory["fact"])
    }
    threshold = policy.of(candidate["memory_type"], candidate["category"]).merge_threshold
    similar = [
        (-similarity, memory_id)
        for memory_id, similarity in similarities.items()
        if similarity >= threshold
    ]
    if not similar:
        return Decision(candidate, None, None)
    negated_similarity, most_similar_id = min(similar)
    return Decision(candidate, most_similar_id, -negated_similarity)


def as_formed(candidate: Row) -> FormedMemory:
    """The memory that a candidate becomes, for comparison.

    Of a passage its words are compared: a page that is sent again with a line changed is news.
    """
    is_reliable, is_passage = has_reliable_vector(candidate), candidate["passage"] is not None
    return FormedMemory(
        candidate["memory_type"],
        candidate["about"],
        candidate["said_at"],
        np.asarray(candidate["embedding"], np.float32),
        fingerprint(candidate["text"]) if is_passage or not is_reliable else None,
        is_reliable,
        candidate["source_id"] if is_passage else None,
    )


def merges_by_memory(decisions: Sequence[Decision]) -> list[Row]:
    """For each memory that is merged into, its candidates."""
    candidates: dict[str, list[Row]] = {}
    for decision in decisions:
        if decision.merge_into is not None:
            merged = {"id": decision.candidate["id"], "similarity": decision.similarity}
            candidates.setdefault(decision.merge_into, []).append(merged)
    return [
        {"memory_id": memory_id, "candidates": merged} for memory_id, merged in candidates.items()
    ]


def standing_facts(rows: Sequence[Row]) -> dict[str, list[Fact]]:
    """The facts of memories that are active and not flagged, by fact key."""
    facts: dict[str, list[Fact]] = {}
    for row in rows:
        memory = row["memory"]
        fact = as_fact(memory["id"], decode_content(memory["content"]), memory["said_at"])
        if fact and memory["state"] == "active" and not memory["flagged"]:
            facts.setdefault(memory["fact"], []).append(fact)
    return facts
