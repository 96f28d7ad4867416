"""Linking: new memories get links to what they relate to, follow, extend or contradict."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from engine.embedding import has_reliable_vector
from engine.memory import timeline
from engine.models import Row
from engine.night.integrate import standing_facts
from engine.night.steps import ActiveRun, Step, round_similarity, run_in_batches, similar_formed
from engine.policy import Policy
from engine.store import Write
from engine.text import MAX_PASSAGES

BATCH_SIZE = 200  # memories in one step
# Nearest memories that are read beyond those that can be linked, because passages of one message
# are near each other and get no RELATED link.
SPARE_NEIGHBOURS = 10
NEXT_AWAITS = {"episodic": "theme"}  # what a linked memory awaits next, by type; others nothing


class Link(NamedTuple):
    """The key of a link to be made."""

    from_id: str
    to_id: str
    type: str


class Neighbour(NamedTuple):
    """A memory that is similar to a new one."""

    id: str
    similarity: float
    said_at: datetime


async def link(run: ActiveRun) -> dict[str, int]:
    """Link all memories that await links. Returns how many were set aside, if any."""
    set_aside = await run_in_batches(
        run, "link", lambda write, limit: link_batch(run, write, limit), batch_size=BATCH_SIZE
    )
    return {"set_aside": set_aside} if set_aside else {}


async def link_batch(run: ActiveRun, write: Write, limit: int) -> Step | None:
    """Link up to `limit` new memories, and recompute until when their facts hold."""
    max_neighbours = max_related(run.policy) + 1 + SPARE_NEIGHBOURS
    rows = await write(
        "night/linking/list_new_memories",
        **run.persona_parameters,
        limit=limit,
        near=max_neighbours,
    )
    if not rows:
        return None
    fact_keys = sorted({row["memory"]["fact"] for row in rows if row["memory"]["fact"]})
    fact_rows = await write(
        "night/integration/list_facts", **run.persona_parameters, facts=fact_keys
    )

    planned = await asyncio.to_thread(plan_links, rows, fact_rows, run)
    strength = run.policy.figures.link_strength
    linked = await write(
        "night/linking/add_links",
        tenant_id=run.tenant_id,
        rows=[
            {**key._asdict(), "strength": strength, "similarity": similarity}
            for key, similarity in planned.items()
        ],
        as_of=run.as_of,
    )
    ids = [row["memory"]["id"] for row in rows]
    closed = await write("memory/facts/settle_facts", tenant_id=run.tenant_id, memory_ids=ids)
    await write(
        "night/linking/set_next_stage", tenant_id=run.tenant_id, ids=ids, awaits=NEXT_AWAITS
    )
    return Step(
        {"linked": len(linked), "facts_closed": len(closed), "memories": len(rows)},
        {"linked": linked, "facts_closed": closed},
        changed_ids=[
            *(row[end] for row in linked for end in ("from_id", "to_id")),
            *(row["id"] for row in closed),
        ],
        more=len(rows) == limit,
    )


def max_related(policy: Policy) -> int:
    """The most RELATED links that a new memory of any type and category gets."""
    return max(figures.relate_limit for figures in policy.all_figures())


def plan_links(
    rows: Sequence[Row], fact_rows: Sequence[Row], run: ActiveRun
) -> dict[Link, float | None]:
    """The links of new memories. The value of a RELATED link is its similarity."""
    planned: dict[Link, float | None] = {}
    threshold = min(figures.relate_threshold for figures in run.policy.all_figures())
    embeddings = [row["memory"]["embedding"] for row in rows]
    similar = similar_formed(
        embeddings,
        run.formed,
        min_similarity=threshold,
        most=max_related(run.policy) + 1 + MAX_PASSAGES,
    )
    for row, similarities in zip(rows, similar, strict=True):
        formed_neighbours = [
            Neighbour(memory_id, similarity, run.formed[memory_id].said_at)
            for memory_id, similarity in similarities.items()
            if run.formed[memory_id].is_reliable
            and not is_beside(row["memory"], run.formed[memory_id].passage_of)
        ]
        planned |= related_links(row, formed_neighbours, run.policy)
        planned |= dict.fromkeys(sequence_links(row, run.policy))
    for facts in standing_facts(fact_rows).values():
        course = timeline(facts)
        planned |= dict.fromkeys(Link(*pair, "CONTRADICTS") for pair in course.contradicts)
        planned |= dict.fromkeys(Link(*pair, "EXTENDS") for pair in course.extends)
    return planned


def related_links(
    row: Row, formed_neighbours: Sequence[Neighbour], policy: Policy
) -> dict[Link, float | None]:
    """Links to the most similar memories, each from the later said to the earlier said."""
    memory = row["memory"]
    if not has_reliable_vector(memory):
        return {}
    figures = policy.of(memory["memory_type"], memory["category"])
    neighbours = {
        stored["id"]: Neighbour(
            stored["id"], round_similarity(stored["similarity"]), stored["said_at"]
        )
        for stored in row["near"]
        if has_reliable_vector(stored) and not is_beside(memory, stored["source_id"])
    }
    neighbours |= {
        neighbour.id: neighbour for neighbour in formed_neighbours if neighbour.id != memory["id"]
    }
    most_similar_first = sorted(
        neighbours.values(), key=lambda neighbour: (-neighbour.similarity, neighbour.id)
    )
    links: dict[Link, float | None] = {}
    for neighbour in most_similar_first[: figures.relate_limit]:
        if neighbour.similarity >= figures.relate_threshold:
            this, other = (memory["said_at"], memory["id"]), (neighbour.said_at, neighbour.id)
            (_, later_id), (_, earlier_id) = max(this, other), min(this, other)
            links[Link(later_id, earlier_id, "RELATED")] = neighbour.similarity
    return links


def is_beside(memory: Row, source_id: str | None) -> bool:
    """Whether a memory is a passage, and the other one was drawn from the same message."""
    is_passage = memory["passage"] is not None and source_id is not None
    return is_passage and bool(memory["source_id"] == source_id)


def sequence_links(row: Row, policy: Policy) -> Iterable[Link]:
    """PRECEDES links of an episode from the one said before it and to the one said after it."""
    memory = row["memory"]
    if memory["memory_type"] != "episodic":
        return
    figures = policy.of(memory["memory_type"], memory["category"])
    max_gap = timedelta(hours=figures.sequence_hours)
    if row["previous"] and memory["said_at"] - row["previous"]["said_at"] <= max_gap:
        yield Link(row["previous"]["id"], memory["id"], "PRECEDES")
    if row["next"] and row["next"]["said_at"] - memory["said_at"] <= max_gap:
        yield Link(memory["id"], row["next"]["id"], "PRECEDES")
