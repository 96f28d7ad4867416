"""Memories as they are kept: read, pinned, linked, and used together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from engine.access import Caller, audit_event
from engine.embedding import Embedder, TextInContext, embed_in_context, search_scope
from engine.errors import IdTaken, Invalid, MemoryNotFound, MessageNotFound, PersonaNotFound
from engine.ids import new_id
from engine.memory.badges import shown_weight, viewer_of
from engine.memory.content import decode_content, encode_content, index_properties
from engine.memory.models import Coactivation, Link, LinkType, Memory, MemoryState
from engine.models import MemoryType, Row
from engine.policy import Policy, read_policies_of, read_policy, salience_after
from engine.store import Graph, Page, Write, decode_id, make_page

DAY = 86_400.0  # seconds
MOST_TOGETHER = 100  # memories of one use
SAME = ("memory_type", "text", "content")  # of two memories with one id, when they are the same


async def list_memories(
    graph: Graph,
    caller: Caller,
    persona_id: str,
    *,
    now: datetime,
    state: MemoryState = MemoryState.ACTIVE,
    memory_type: MemoryType | None = None,
    category: str | None = None,
    held_at: datetime | None = None,
    cursor: str | None = None,
    limit: int,
    badges_for_all: bool = False,
) -> Page[Memory]:
    """A persona's memories of one state; with `held_at`, the semantic ones that held then."""
    policy = await read_policy(graph, caller.tenant_id, persona_id)
    rows = await graph.read(
        "memory/memories/list_memories",
        tenant_id=caller.tenant_id,
        persona_id=persona_id,
        state=state.value,
        memory_type=memory_type.value if memory_type else None,
        category=category,
        held_at=held_at,
        **caller.visibility,
        viewer=viewer_of(caller, badges_for_all=badges_for_all),
        after=decode_id(cursor),
        limit=limit + 1,
    )
    found = [as_memory(row["memory"], policy, now) for row in rows]
    return make_page(found, limit, lambda memory: memory.memory_id)


async def get_memory(
    graph: Graph, caller: Caller, memory_id: str, *, now: datetime, badges_for_all: bool = False
) -> Memory:
    """One memory, archived or not, for those who may know of it."""
    stored = await find_memory(graph, caller, memory_id, badges_for_all=badges_for_all)
    return as_memory(stored, await read_policy(graph, caller.tenant_id, stored["persona_id"]), now)


async def find_memory(
    graph: Graph, caller: Caller, memory_id: str, *, badges_for_all: bool = False
) -> Row:
    """A memory as it is kept, for those who may know of it."""
    found = await graph.read(
        "memory/memories/get_memory",
        tenant_id=caller.tenant_id,
        memory_id=memory_id,
        **caller.visibility,
        viewer=viewer_of(caller, badges_for_all=badges_for_all),
    )
    if not found:
        raise MemoryNotFound(memory_id)
    stored: Row = found[0]["memory"]
    return stored


async def change_memory(
    graph: Graph,
    caller: Caller,
    memory_id: str,
    *,
    changes: Mapping[str, Any],
    now: datetime,
    badges_for_all: bool = False,
) -> Memory:
    """Pin a memory or let go of it, weigh it, file it. What it says never changes.

    `changes` is any of `pinned`, `importance`, `tags` and `project`; what it does not name stays
    as it is.
    """
    wanted = dict(changes)
    if "tags" in wanted:
        wanted["tags"] = list(dict.fromkeys(wanted["tags"]))

    async def work(write: Write) -> None:
        held = await write(
            "memory/memories/lock_memory",
            tenant_id=caller.tenant_id,
            memory_id=memory_id,
            **caller.visibility,
        )
        if not held:
            raise MemoryNotFound(memory_id)
        before = held[0]["memory"]
        changed = {name: value for name, value in wanted.items() if before[name] != value}
        if not changed:
            return
        event = audit_event(caller, "changed", now)
        await write(
            "memory/memories/change_memory",
            tenant_id=caller.tenant_id,
            memory_id=memory_id,
            changes=changed,
            event={
                **event,
                "before": encode_content({name: before[name] for name in changed}),
                "after": encode_content(changed),
            },
        )

    await graph.write_with(work, name="memory/memories/change_memory")
    return await get_memory(graph, caller, memory_id, now=now, badges_for_all=badges_for_all)


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
    caller: Caller,
    persona_id: str,
    new: NewMemory,
    *,
    now: datetime,
) -> Memory:
    """Keep a memory at once. The next night links it, and from then on it lives as any other."""
    policy = await read_policy(graph, caller.tenant_id, persona_id)
    (embedded,) = await embed_in_context(embedder, [TextInContext(new.text)])
    memory_id = new.chosen_id or new_id()
    properties = index_properties(new.content)
    rest = timedelta(days=policy.of(new.memory_type.value, properties["category"]).decay_days)
    kept = {
        "id": memory_id,
        "memory_type": new.memory_type.value,
        "text": new.text,
        "content": encode_content(new.content),
        "said_at": new.said_at or now,
        **embedded.properties_without_embedding,
        "search_scope": search_scope(caller.tenant_id, persona_id),
        "tags": list(dict.fromkeys(new.tags)),
        "project": new.project,
        "importance": new.importance,
        "idle_importance": new.importance,
        "pinned": new.pinned,
        "fades_at": None if new.pinned else now + rest,
    }
    stands = {"memory_type": new.memory_type, "importance": new.importance, "pinned": new.pinned}
    same = {"persona_id": persona_id, **{name: kept[name] for name in SAME}}

    def accept(found: list[Row]) -> None:
        if not found:
            raise PersonaNotFound(persona_id)
        (row,) = found
        if row["missing"]:
            raise MessageNotFound(row["missing"][0])
        if row["flagged"]:
            raise Invalid(f"Message {row['flagged'][0]!r} is flagged: nothing is drawn from it.")
        if row["taken"] or row["kept"] != same:
            raise IdTaken("memory", memory_id)

    await graph.write_if(
        accept,
        "memory/memories/add_memory",
        tenant_id=caller.tenant_id,
        persona_id=persona_id,
        memory=kept,
        index_properties=properties,
        label=new.memory_type.value.capitalize(),
        embedding=embedded.embedding,
        sources=list(new.source_message_ids),
        **caller.visibility,
        event={**audit_event(caller, "remembered", now), "after": encode_content(stands)},
    )
    # Whoever has said it is answered with it, though what has no message is shown to no person.
    return await get_memory(graph, replace(caller, user_id=None), memory_id, now=now)


async def minimize_memory(
    graph: Graph,
    caller: Caller,
    memory_id: str,
    *,
    modifier: float | None = None,
    now: datetime,
    badges_for_all: bool = False,
) -> Memory:
    """Turn a memory and its outgoing links down by hand; with a modifier of 1, up again.

    Without a modifier it is turned down as far as one flag would.
    """
    left = modifier
    if left is None:
        stored = await find_memory(graph, caller, memory_id)
        policy = await read_policy(graph, caller.tenant_id, stored["persona_id"])
        left = policy.of(stored["memory_type"], stored["category"]).minimize_factor
    return await change(
        graph,
        caller,
        "memory/memories/minimize_memory",
        memory_id,
        audit_event(caller, "minimized" if left < 1 else "restored", now),
        badges_for_all=badges_for_all,
        modifier=left,
    )


async def archive_memory(graph: Graph, caller: Caller, memory_id: str, *, now: datetime) -> Memory:
    """Take a memory out of what is recalled by itself."""
    event = audit_event(caller, "archived", now)
    return await change(graph, caller, "memory/memories/archive_memory", memory_id, event)


async def unarchive_memory(
    graph: Graph, caller: Caller, memory_id: str, *, now: datetime
) -> Memory:
    """Bring a memory back; that counts as an access, which protects it from being sent again."""
    event = audit_event(caller, "unarchived", now)
    return await change(graph, caller, "memory/memories/unarchive_memory", memory_id, event)


async def change(
    graph: Graph,
    caller: Caller,
    name: str,
    memory_id: str,
    event: Row,
    *,
    badges_for_all: bool = False,
    **parameters: Any,
) -> Memory:
    """Run a statement that changes one memory, and read what it is then."""
    which = {"tenant_id": caller.tenant_id, "memory_id": memory_id}

    async def work(write: Write) -> None:
        if not await write(name, **which, **caller.visibility, event=event, **parameters):
            raise MemoryNotFound(memory_id)
        # Whether what it states stands decides until when earlier facts hold.
        await write("memory/facts/settle_facts", tenant_id=caller.tenant_id, memory_ids=[memory_id])

    await graph.write_with(work, name=name)
    return await get_memory(
        graph, caller, memory_id, now=event["at"], badges_for_all=badges_for_all
    )


async def list_links(graph: Graph, caller: Caller, memory_id: str) -> list[Link]:
    """The links from a memory and to it, the strongest first."""
    await find_memory(graph, caller, memory_id)
    rows = await graph.read(
        "memory/memories/list_links",
        tenant_id=caller.tenant_id,
        memory_id=memory_id,
        **caller.visibility,
    )
    return [as_link(row["link"]) for row in rows]


async def add_link(
    graph: Graph,
    caller: Caller,
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
    source = await find_memory(graph, caller, from_id)
    policy = await read_policy(graph, caller.tenant_id, source["persona_id"])
    given = policy.figures.link_strength if strength is None else strength
    made = {"from_id": from_id, "to_id": to_id, "type": link_type.value, "strength": given}
    found = await graph.write(
        "memory/memories/add_link",
        tenant_id=caller.tenant_id,
        from_id=from_id,
        to_id=to_id,
        **caller.visibility,
        type=link_type.value,
        strength=given,
        prune_below={kind: figures.prune_below for kind, figures in policy.types.items()},
        event={**audit_event(caller, "linked", now), "after": encode_content(made)},
    )
    if not found:
        raise MemoryNotFound(to_id)
    return as_link(found[0]["link"])


async def coactivate(
    graph: Graph,
    caller: Caller,
    persona_id: str,
    memory_ids: Sequence[str],
    *,
    use_id: str | None = None,
    now: datetime,
) -> Coactivation:
    """Count that memories were used together. The same `use_id` given again counts nothing."""
    use = Use(use_id or new_id(), caller.tenant_id, persona_id, tuple(memory_ids), now)
    (row,) = await count_uses(graph, [use], whole=True, seen_by=caller)
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


async def count_uses(
    graph: Graph, uses: Sequence[Use], *, whole: bool, seen_by: Caller | None = None
) -> list[Row]:
    """Count uses, in their order and as one transaction. One that is given again counts nothing.

    At most `MOST_TOGETHER` memories of one use are counted. With `whole`, a use counts only if all
    its memories are there, with `seen_by` those they may know of, and the links between them are
    returned.
    """
    whose = sorted({(it.tenant_id, it.persona_id) for it in uses})
    policies = await read_policies_of(graph, whose)
    if whole and len(policies) < len(whose):
        raise PersonaNotFound(next(it[1] for it in whose if it not in policies))
    figures = {it: policy.effective.as_parameter() for it, policy in policies.items()}
    rows = [
        {
            "id": it.id,
            "tenant_id": it.tenant_id,
            "persona_id": it.persona_id,
            "memory_ids": sorted(set(it.memory_ids))[:MOST_TOGETHER],
            "at": it.at,
            "figures": figures[it.tenant_id, it.persona_id],
            "whole": whole,
            **(seen_by.visibility if seen_by else {}),
        }
        for it in uses
        if (it.tenant_id, it.persona_id) in figures
    ]
    return await graph.write("memory/memories/use_together", uses=rows)


def as_memory(stored: Row, policy: Policy, now: datetime) -> Memory:
    """A memory as it is now: its salience is what time has left of it."""
    given: dict[str, Any] = dict(stored)
    figures = policy.of(given["memory_type"], given["category"])
    idle = max(0.0, (now - given.pop("salience_at")).total_seconds() / DAY)
    weight = shown_weight(given)
    for name in ("weight_modifier", "own_modifier", "acts", "shown_acts"):
        given.pop(name)
    return Memory(
        memory_id=given.pop("id"),
        memory_type=MemoryType(given.pop("memory_type")),
        state=MemoryState(given.pop("state")),
        content=decode_content(given.pop("content")),
        source_message_ids=given.pop("sources"),
        salience=round(salience_after(given.pop("salience"), idle, figures), 6),
        weight_modifier=weight,
        **given,
    )


def as_link(stored: Row) -> Link:
    return Link(**{**stored, "type": LinkType(stored["type"])})
