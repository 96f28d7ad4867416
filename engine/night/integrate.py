"""Candidates that have had their time become memories, or reinforce the one that is there."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from engine.embedding import MIN_KNOWN_SHARE, has_reliable_vector
from engine.ids import new_id
from engine.memory import Fact, as_fact, decode_content, find_held_fact
from engine.models import Row
from engine.night.steps import ActiveRun, Formed, Step, as_similarity, in_batches, similar_formed
from engine.policy import Policy
from engine.store import Write
from engine.text import fingerprint

AT_ONCE = 200  # candidates in one step
NEAR = 10  # memories looked at for each
LABELS = {"episodic": "Episodic", "semantic": "Semantic", "somatic": "Somatic"}


@dataclass(frozen=True, slots=True)
class Decision:
    """A candidate becomes a memory of its own, or is the memory that is there already."""

    candidate: Row
    into: str | None
    similarity: float | None


async def integrate(run: ActiveRun) -> dict[str, int]:
    """Decide on every candidate in the order it was said, whatever the size of a batch."""
    formed: dict[str, Formed] = {}
    await in_batches(
        run,
        "integrate",
        lambda write, limit: integrate_some(run, write, formed, limit),
        at_once=AT_ONCE,
        after=lambda: run.formed.update(formed),
    )
    while await run.step("integrate", lambda write, _: pass_over_some(run, write)):
        pass
    left = await run.graph.read("night/integration/count_remaining", **run.whose)
    return {row["reason"]: row["candidates"] for row in left}


async def integrate_some(
    run: ActiveRun, write: Write, formed: dict[str, Formed], limit: int
) -> Step | None:
    """`formed` tells what became a memory, once the step is over; a step may be tried twice."""
    formed.clear()
    rows = await write(
        "night/integration/list_eligible_candidates",
        **run.whose,
        drawn_before=run.drawn_before,
        limit=limit,
        near=NEAR,
        similarity=lowest_threshold(run.policy),
        legible=MIN_KNOWN_SHARE,
    )
    names = sorted({row["candidate"]["fact"] for row in rows if row["candidate"]["fact"]})
    known = await write("night/integration/list_facts", **run.whose, facts=names)
    decisions = await asyncio.to_thread(decide, rows, run.formed, standing_facts(known), run.policy)
    new = {it.candidate["id"]: it.candidate for it in decisions if it.into is None}

    became = await write(
        "night/integration/form_memories",
        **run.whose,
        rows=[
            {
                "id": new_id,
                "label": LABELS[it["memory_type"]],
                "fades_at": run.as_of + period(run.policy, it["memory_type"], it["category"]),
            }
            for new_id, it in new.items()
        ],
        as_of=run.as_of,
        awaits="links",
    )
    merged = await write(
        "night/integration/merge_candidates",
        tenant_id=run.tenant_id,
        rows=by_memory(decisions),
        as_of=run.as_of,
        figures=run.policy.as_parameter(),
    )
    if not became and not merged:
        return None
    formed |= {row["id"]: as_formed(new[row["id"]]) for row in became}
    taken = len(became) + sum(len(row["candidates"]) for row in merged)
    return Step(
        {"formed": len(became), "merged": taken - len(became)},
        {"formed": became, "merged": merged},
        # What could not be merged, since it was flagged meanwhile, is decided on once more.
        more=len(rows) == limit or taken < len(rows),
    )


async def pass_over_some(run: ActiveRun, write: Write) -> Step | None:
    rows = await write(
        "night/integration/pass_over_candidates",
        **run.whose,
        drawn_before=run.drawn_before,
        as_of=run.as_of,
        limit=AT_ONCE,
    )
    if not rows:
        return None
    await write(
        "talk/events/add_effect_events",
        tenant_id=run.whose["tenant_id"],
        ids=[row["id"] for row in rows],
        event={"id": new_id(), "action": "passed_over", "by": "engine", "at": run.as_of},
        of_flags=True,
    )
    return Step({"passed_over": len(rows)}, {"passed_over": rows}, more=len(rows) == AT_ONCE)


def lowest_threshold(policy: Policy) -> float:
    """No memory less similar than this can be merged into, whatever its type and category."""
    return min(figures.merge_threshold for figures in policy.all_figures())


def period(policy: Policy, memory_type: str, category: str | None) -> timedelta:
    """How long a new memory stays as it is."""
    return timedelta(days=policy.of(memory_type, category).decay_days)


def decide(
    rows: Sequence[Row],
    formed: dict[str, Formed],
    facts: dict[str, list[Fact]],
    policy: Policy,
) -> list[Decision]:
    """Each candidate in turn, knowing what those before it became."""
    could_be = formed | {row["candidate"]["id"]: as_formed(row["candidate"]) for row in rows}
    embeddings = [row["candidate"]["embedding"] for row in rows]
    near_here = similar_formed(embeddings, could_be, floor=lowest_threshold(policy))
    there, facts = set(formed), {name: list(held) for name, held in facts.items()}
    decisions = []
    for row, near in zip(rows, near_here, strict=True):
        candidate = row["candidate"]
        fact = as_fact(candidate["id"], decode_content(candidate["content"]), candidate["said_at"])
        held = facts.setdefault(candidate["fact"] or "", [])
        if fact:
            near = {}  # a stated fact is the same when it says the same, not when it sounds alike
        else:
            kind = (candidate["memory_type"], candidate["about"])
            near = {
                other: it
                for other, it in near.items()
                if other in there
                and could_be[other][:2] == kind
                and could_be[other].can_be(could_be[candidate["id"]])
                and of_one_time(candidate, could_be[other].said_at, policy)
            }
        remembered = [
            it
            for it in row["near"]
            if of_one_time(candidate, it["said_at"], policy)
            and (it["text"] is None or fingerprint(it["text"]) == fingerprint(candidate["text"]))
        ]
        decision = decide_on(candidate, remembered, near, fact, held, policy)
        decisions.append(decision)
        if decision.into is None:
            there.add(candidate["id"])
            if fact:
                held.append(fact)
    return decisions


def of_one_time(candidate: Row, said_at: datetime, policy: Policy) -> bool:
    """Whether a candidate may be what was said then: words can be repeated, feelings are felt."""
    figures = policy.of(candidate["memory_type"], candidate["category"])
    apart: timedelta = abs(candidate["said_at"] - said_at)
    return candidate["memory_type"] != "somatic" or apart <= timedelta(hours=figures.feeling_hours)


def decide_on(
    candidate: Row,
    remembered: Sequence[Row],
    near: dict[str, float],
    fact: Fact | None,
    held: Sequence[Fact],
    policy: Policy,
) -> Decision:
    """Whether this candidate says again what a memory holds."""
    if fact and (told := find_held_fact(fact, held)):
        return Decision(candidate, told.id, None)
    near |= {
        other["id"]: as_similarity(other["similarity"])
        for other in remembered
        if other["about"] == candidate["about"] and not (fact and other["fact"])
    }
    threshold = policy.of(candidate["memory_type"], candidate["category"]).merge_threshold
    same = [(-similarity, other) for other, similarity in near.items() if similarity >= threshold]
    if not same:
        return Decision(candidate, None, None)
    similarity, nearest = min(same)
    return Decision(candidate, nearest, -similarity)


def as_formed(candidate: Row) -> Formed:
    return Formed(
        candidate["memory_type"],
        candidate["about"],
        candidate["said_at"],
        np.asarray(candidate["embedding"], np.float32),
        None if has_reliable_vector(candidate) else fingerprint(candidate["text"]),
    )


def by_memory(decisions: Sequence[Decision]) -> list[Row]:
    merged: dict[str, list[Row]] = {}
    for it in decisions:
        if it.into is not None:
            told = {"id": it.candidate["id"], "similarity": it.similarity}
            merged.setdefault(it.into, []).append(told)
    return [{"memory_id": into, "candidates": told} for into, told in merged.items()]


def standing_facts(rows: Sequence[Row]) -> dict[str, list[Fact]]:
    """By what they are filed under, the facts of memories that are active and not flagged."""
    found: dict[str, list[Fact]] = {}
    for row in rows:
        memory = row["memory"]
        fact = as_fact(memory["id"], decode_content(memory["content"]), memory["said_at"])
        if fact and memory["state"] == "active" and not memory["flagged"]:
            found.setdefault(memory["fact"], []).append(fact)
    return found
