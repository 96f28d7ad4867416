"""New memories are linked to what they relate to, follow, extend or contradict."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from engine.embedding import has_reliable_vector
from engine.memory import timeline
from engine.models import Row
from engine.night.integrate import standing_facts
from engine.night.steps import ActiveRun, Step, as_similarity, in_batches, similar_formed
from engine.policy import Policy
from engine.store import Write

AT_ONCE = 200  # memories in one step
NEXT = {"episodic": "theme"}  # the stage that new memories of a type go on to


class Link(NamedTuple):
    """One link to be made. Unique by where it goes from, where to, and its type."""

    from_id: str
    to_id: str
    type: str


async def link(run: ActiveRun) -> dict[str, int]:
    aside = await in_batches(
        run, "link", lambda write, limit: link_some(run, write, limit), at_once=AT_ONCE
    )
    return {"set_aside": aside} if aside else {}


async def link_some(run: ActiveRun, write: Write, limit: int) -> Step | None:
    most = max(figures.relate_limit for figures in run.policy.all_figures())
    rows = await write("night/linking/list_new_memories", **run.whose, limit=limit, near=most + 1)
    if not rows:
        return None
    facts = sorted({row["memory"]["fact"] for row in rows if row["memory"]["fact"]})
    known = await write("night/integration/list_facts", **run.whose, facts=facts)

    planned = await asyncio.to_thread(plan_links, rows, known, run)
    strength = run.policy.figures.link_strength
    made = await write(
        "night/linking/add_links",
        tenant_id=run.tenant_id,
        rows=[
            {**it._asdict(), "strength": strength, "similarity": similarity}
            for it, similarity in planned.items()
        ],
        as_of=run.as_of,
    )
    ids = [row["memory"]["id"] for row in rows]
    closed = await write("memory/facts/settle_facts", tenant_id=run.tenant_id, memory_ids=ids)
    await write("night/linking/set_next_stage", tenant_id=run.tenant_id, ids=ids, awaits=NEXT)
    return Step(
        {"linked": len(made), "facts_closed": len(closed), "memories": len(rows)},
        {"linked": made, "facts_closed": closed},
        more=len(rows) == limit,
    )


def plan_links(
    rows: Sequence[Row], known: Sequence[Row], run: ActiveRun
) -> dict[Link, float | None]:
    """The links of new memories, with the similarity of those that are alike in meaning."""
    planned: dict[Link, float | None] = {}
    floor = min(figures.relate_threshold for figures in run.policy.all_figures())
    near_here = similar_formed(
        [row["memory"]["embedding"] for row in rows], run.formed, floor=floor
    )
    for row, near in zip(rows, near_here, strict=True):
        told = {
            other: (similarity, run.formed[other].said_at)
            for other, similarity in near.items()
            if run.formed[other].words is None
        }
        planned |= related(row, told, run.policy)
        planned |= dict.fromkeys(in_sequence(row, run.policy))
    for held in standing_facts(known).values():
        course = timeline(held)
        planned |= dict.fromkeys(Link(*pair, "CONTRADICTS") for pair in course.contradicts)
        planned |= dict.fromkeys(Link(*pair, "EXTENDS") for pair in course.extends)
    return planned


def related(
    row: Row, here: dict[str, tuple[float, datetime]], policy: Policy
) -> dict[Link, float | None]:
    """Links to the nearest in meaning, each from the later said to the earlier said."""
    memory = row["memory"]
    if not has_reliable_vector(memory):
        return {}
    figures = policy.of(memory["memory_type"], memory["category"])
    near = {
        it["id"]: (as_similarity(it["similarity"]), it["said_at"])
        for it in row["near"]
        if has_reliable_vector(it)
    }
    near |= {other: it for other, it in here.items() if other != memory["id"]}
    chosen = sorted(near.items(), key=lambda it: (-it[1][0], it[0]))[: figures.relate_limit]
    links: dict[Link, float | None] = {}
    for other, (similarity, when) in chosen:
        if similarity >= figures.relate_threshold:
            newer, older = ordered((memory["said_at"], memory["id"]), (when, other))
            links[Link(newer, older, "RELATED")] = similarity
    return links


def ordered(one: tuple[datetime, str], other: tuple[datetime, str]) -> tuple[str, str]:
    """The ids of two memories, the one that was said later first."""
    return (one[1], other[1]) if one > other else (other[1], one[1])


def in_sequence(row: Row, policy: Policy) -> Iterable[Link]:
    """What was said just before precedes it, and it precedes what was said next."""
    memory = row["memory"]
    if memory["memory_type"] != "episodic":
        return
    figures = policy.of(memory["memory_type"], memory["category"])
    longest = timedelta(hours=figures.sequence_hours)
    if row["previous"] and memory["said_at"] - row["previous"]["said_at"] <= longest:
        yield Link(row["previous"]["id"], memory["id"], "PRECEDES")
    if row["next"] and row["next"]["said_at"] - memory["said_at"] <= longest:
        yield Link(memory["id"], row["next"]["id"], "PRECEDES")
