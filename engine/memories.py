"""Memories as they are kept: read, pinned, linked, and used together."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from engine.candidates import as_text, filed
from engine.embedding import Embedder
from engine.errors import IdTaken, Invalid, MemoryNotFound, MessageNotFound, PersonaNotFound
from engine.facets import Saying, embed_sayings, shelf
from engine.graph import Graph, Row
from engine.models import (
    Caller,
    Coactivation,
    Link,
    LinkType,
    Memory,
    MemoryState,
    MemoryType,
    Page,
    new_id,
)
from engine.paging import after, page
from engine.policy import Policy, policies_of, read_policy, salience_after

DAY = 86_400.0  # seconds


async def list_memories(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    *,
    now: datetime,
    state: MemoryState = MemoryState.ACTIVE,
    memory_type: MemoryType | None = None,
    category: str | None = None,
    held_at: datetime | None = None,
    cursor: str | None = None,
    limit: int,
) -> Page[Memory]:
    """A persona's memories of one state; with `held_at`, the semantic ones that held then."""
    policy = await read_policy(graph, tenant_id, persona_id)
    rows = await graph.read(
        "memories/list_memories",
        tenant_id=tenant_id,
        persona_id=persona_id,
        state=state.value,
        memory_type=memory_type.value if memory_type else None,
        category=category,
        held_at=held_at,
        after=after(cursor),
        limit=limit + 1,
    )
    found = [as_memory(row["memory"], policy, now) for row in rows]
    return page(found, limit, lambda memory: memory.memory_id)


async def get_memory(graph: Graph, tenant_id: str, memory_id: str, *, now: datetime) -> Memory:
    """One memory, archived or not."""
    stored = await find_memory(graph, tenant_id, memory_id)
    return as_memory(stored, await read_policy(graph, tenant_id, stored["persona_id"]), now)


async def find_memory(graph: Graph, tenant_id: str, memory_id: str) -> Row:
    """A memory as it is kept."""
    found = await graph.read("memories/get_memory", tenant_id=tenant_id, memory_id=memory_id)
    if not found:
        raise MemoryNotFound(memory_id)
    stored: Row = found[0]["memory"]
    return stored


async def change(
    graph: Graph, name: str, tenant_id: str, memory_id: str, at: datetime, /, **parameters: Any
) -> Memory:
    """Run a statement that changes one memory, and read what it is then."""
    if not await graph.write(name, tenant_id=tenant_id, memory_id=memory_id, **parameters):
        raise MemoryNotFound(memory_id)
    return await get_memory(graph, tenant_id, memory_id, now=at)


def act(caller: Caller, action: str, now: datetime) -> Row:
    """What somebody does to a memory, as it is written down."""
    return {"id": new_id(), "action": action, "by": caller.acts_as, "at": now}


async def change_memory(
    graph: Graph,
    tenant_id: str,
    memory_id: str,
    *,
    pinned: bool | None,
    importance: int | None,
    tags: Sequence[str] | None = None,
    project: str | None = None,
    now: datetime,
) -> Memory:
    """Pin a memory or let go of it, weigh it, file it. What it says never changes."""
    return await change(
        graph,
        "memories/change_memory",
        tenant_id,
        memory_id,
        now,
        pinned=pinned,
        importance=importance,
        tags=None if tags is None else list(dict.fromkeys(tags)),
        project=project,
        now=now,
    )


@dataclass(frozen=True, slots=True)
class NewMemory:
    """Something to be remembered at once."""

    memory_type: MemoryType
    text: str
    content: dict[str, Any]
    source_message_ids: Sequence[str] = ()
    chosen_id: str | None = None
    said_at: datetime | None = None
    tags: Sequence[str] = ()
    project: str | None = None
    importance: int = 5
    pinned: bool = False


async def remember(
    graph: Graph,
    embedder: Embedder,
    tenant_id: str,
    persona_id: str,
    new: NewMemory,
    *,
    now: datetime,
) -> Memory:
    """Keep a memory at once. The next night links it, and from then on it lives as any other."""
    policy = await read_policy(graph, tenant_id, persona_id)
    (embedded,) = await embed_sayings(embedder, [Saying(new.text)])
    memory_id = new.chosen_id or new_id()
    told = filed(new.content)
    rest = timedelta(days=policy.of(new.memory_type.value, told["category"]).decay_days)
    kept = {
        "id": memory_id,
        "memory_type": new.memory_type.value,
        "text": new.text,
        "content": as_text(new.content),
        "said_at": new.said_at or now,
        **embedded.beside,
        "shelf": shelf(tenant_id, persona_id),
        "tags": list(dict.fromkeys(new.tags)),
        "project": new.project,
        "importance": new.importance,
        "idle_importance": new.importance,
        "pinned": new.pinned,
        "fades_at": None if new.pinned else now + rest,
    }
    found = await graph.write(
        "memories/add_memory",
        tenant_id=tenant_id,
        persona_id=persona_id,
        memory=kept,
        filed=told,
        label=new.memory_type.value.capitalize(),
        embedding=embedded.embedding,
        sources=list(new.source_message_ids),
        now=now,
    )
    if not found:
        raise PersonaNotFound(persona_id)
    if found[0]["missing"]:
        raise MessageNotFound(found[0]["missing"][0])
    if found[0]["flagged"]:
        raise Invalid(f"Message {found[0]['flagged'][0]!r} is flagged: nothing is drawn from it.")
    if found[0]["taken"]:
        raise IdTaken("memory", memory_id)
    memory = await get_memory(graph, tenant_id, memory_id, now=now)
    same = (memory.persona_id, memory.memory_type, memory.text, memory.content)
    if same != (persona_id, new.memory_type, new.text, new.content):
        raise IdTaken("memory", memory_id)
    return memory


async def minimize_memory(
    graph: Graph, caller: Caller, memory_id: str, *, modifier: float, factor: float, now: datetime
) -> Memory:
    """Turn a memory and its outgoing links down by hand; with a modifier of 1, up again."""
    return await change(
        graph,
        "memories/minimize_memory",
        caller.tenant_id,
        memory_id,
        now,
        modifier=modifier,
        factor=factor,
        event=act(caller, "minimized" if modifier < 1 else "restored", now),
    )


async def archive_memory(graph: Graph, caller: Caller, memory_id: str, *, now: datetime) -> Memory:
    """Take a memory out of what is recalled by itself."""
    event = act(caller, "archived", now)
    return await change(
        graph, "memories/archive_memory", caller.tenant_id, memory_id, now, event=event
    )


async def unarchive_memory(
    graph: Graph, caller: Caller, memory_id: str, *, now: datetime
) -> Memory:
    """Bring a memory back; that counts as an access, which protects it from being sent again."""
    event = act(caller, "unarchived", now)
    return await change(
        graph, "memories/unarchive_memory", caller.tenant_id, memory_id, now, event=event
    )


async def list_links(graph: Graph, tenant_id: str, memory_id: str) -> list[Link]:
    """The links from a memory and to it, the strongest first."""
    await find_memory(graph, tenant_id, memory_id)
    rows = await graph.read("memories/list_links", tenant_id=tenant_id, memory_id=memory_id)
    return [as_link(row["link"]) for row in rows]


async def add_link(
    graph: Graph,
    tenant_id: str,
    from_id: str,
    to_id: str,
    link_type: LinkType,
    *,
    strength: float | None,
    now: datetime,
) -> Link:
    """Link two memories of one persona. A link that is there stays as it is."""
    if from_id == to_id:
        raise Invalid("A memory is not linked to itself.")
    source = await find_memory(graph, tenant_id, from_id)
    policy = await read_policy(graph, tenant_id, source["persona_id"])
    found = await graph.write(
        "memories/add_link",
        tenant_id=tenant_id,
        from_id=from_id,
        to_id=to_id,
        type=link_type.value,
        strength=policy.figures.link_strength if strength is None else strength,
        prune_below={kind: figures.prune_below for kind, figures in policy.types.items()},
        now=now,
    )
    if not found:
        raise MemoryNotFound(to_id)
    return as_link(found[0]["link"])


async def use_together(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    memory_ids: Sequence[str],
    *,
    use_id: str | None = None,
    now: datetime,
) -> Coactivation:
    """Count that memories were used together. The same `use_id` told again counts nothing."""
    use = Use(use_id or new_id(), tenant_id, persona_id, tuple(memory_ids), now)
    (row,) = await count_together(graph, [use], whole=True)
    if row["missing"]:
        raise MemoryNotFound(row["missing"][0])
    return Coactivation(use.id, row["counted"], [as_link(link) for link in row["links"]])


@dataclass(frozen=True, slots=True)
class Use:
    """Memories that were used together, at some time."""

    id: str
    tenant_id: str
    persona_id: str
    memory_ids: tuple[str, ...]
    at: datetime


async def count_together(graph: Graph, uses: Sequence[Use], *, whole: bool) -> list[Row]:
    """Count uses, in their order and as one transaction. One that is told again counts nothing."""
    whose = sorted({(it.tenant_id, it.persona_id) for it in uses})
    policies = await policies_of(graph, whose)
    if whole and len(policies) < len(whose):
        raise PersonaNotFound(next(it[1] for it in whose if it not in policies))
    figures = {it: policy.effective.as_parameter() for it, policy in policies.items()}
    rows = [
        {
            "id": it.id,
            "tenant_id": it.tenant_id,
            "persona_id": it.persona_id,
            "memory_ids": sorted(set(it.memory_ids)),
            "at": it.at,
            "figures": figures[it.tenant_id, it.persona_id],
            "whole": whole,
        }
        for it in uses
        if (it.tenant_id, it.persona_id) in figures
    ]
    return await graph.write("memories/use_together", uses=rows)


def as_memory(stored: Row, policy: Policy, now: datetime) -> Memory:
    """A memory as it is now: its salience is what time has left of it."""
    given: dict[str, Any] = dict(stored)
    figures = policy.of(given["memory_type"], given["category"])
    idle = max(0.0, (now - given.pop("salience_at")).total_seconds() / DAY)
    return Memory(
        memory_id=given.pop("id"),
        memory_type=MemoryType(given.pop("memory_type")),
        state=MemoryState(given.pop("state")),
        content=json.loads(given.pop("content")),
        source_message_ids=given.pop("sources"),
        salience=round(salience_after(given.pop("salience"), idle, figures), 6),
        **given,
    )


def as_link(stored: Row) -> Link:
    return Link(**{**stored, "type": LinkType(stored["type"])})
