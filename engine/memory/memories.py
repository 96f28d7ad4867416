"""Memories: listed, read, added at once, changed, minimized and archived."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from engine.access import Caller, audit_event
from engine.embedding import Embedder, TextInContext, embed_in_context, search_scope
from engine.errors import IdTaken, Invalid, MemoryNotFound, MessageNotFound, PersonaNotFound
from engine.ids import new_id
from engine.memory.badges import shown_weight, viewer_of
from engine.memory.change_log import log_changes
from engine.memory.content import (
    decode_content,
    encode_content,
    index_properties,
    item_properties,
)
from engine.memory.models import Memory, MemoryState
from engine.memory.withdrawal import withdraw_shapes
from engine.models import PROPOSED_TYPES, MemoryType, Row
from engine.policy import Policy, read_policy, salience_after
from engine.store import Graph, Page, Write, decode_id, make_page

SECONDS_PER_DAY = 86_400.0


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
    memories = [memory_from_row(row["memory"], policy, now) for row in rows]
    return make_page(memories, limit, lambda memory: memory.memory_id)


async def get_memory(
    graph: Graph, caller: Caller, memory_id: str, *, now: datetime, badges_for_all: bool = False
) -> Memory:
    """One memory, archived or not, if the caller may see it."""
    row = await find_memory_row(graph, caller, memory_id, badges_for_all=badges_for_all)
    policy = await read_policy(graph, caller.tenant_id, row["persona_id"])
    return memory_from_row(row, policy, now)


async def find_memory_row(
    graph: Graph, caller: Caller, memory_id: str, *, badges_for_all: bool = False
) -> Row:
    """A memory's stored properties, if the caller may see it."""
    rows = await graph.read(
        "memory/memories/get_memory",
        tenant_id=caller.tenant_id,
        memory_id=memory_id,
        **caller.visibility,
        viewer=viewer_of(caller, badges_for_all=badges_for_all),
    )
    if not rows:
        raise MemoryNotFound(memory_id)
    memory_row: Row = rows[0]["memory"]
    return memory_row


async def change_memory(
    graph: Graph,
    caller: Caller,
    memory_id: str,
    *,
    changes: Mapping[str, Any],
    now: datetime,
    badges_for_all: bool = False,
) -> Memory:
    """Change how a memory is pinned, weighed and filed. What it says never changes.

    `changes` has any of `pinned`, `importance`, `tags` and `project`; what it does not name stays
    as it is.
    """
    requested = dict(changes)
    if "tags" in requested:
        requested["tags"] = list(dict.fromkeys(requested["tags"]))

    async def work(write: Write) -> None:
        rows = await write(
            "memory/memories/lock_memory",
            tenant_id=caller.tenant_id,
            memory_id=memory_id,
            **caller.visibility,
        )
        if not rows:
            raise MemoryNotFound(memory_id)
        before = rows[0]["memory"]
        changed = {name: value for name, value in requested.items() if before[name] != value}
        if not changed:
            return
        await write(
            "memory/memories/change_memory",
            tenant_id=caller.tenant_id,
            memory_id=memory_id,
            changes=changed,
            event={
                **audit_event(caller, "changed", now),
                "before": encode_content({name: before[name] for name in changed}),
                "after": encode_content(changed),
            },
        )

    await graph.write_with(work, name="memory/memories/change_memory")
    return await get_memory(graph, caller, memory_id, now=now, badges_for_all=badges_for_all)


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to be kept at once, without waiting for a night."""

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
    """Keep a memory at once. The next night links it; from then on it is like any other.

    The same memory with the same id given again changes nothing.
    """
    if new.memory_type not in PROPOSED_TYPES:
        raise Invalid("A forgotten shape is drawn from what was archived, not added as a memory.")
    policy = await read_policy(graph, caller.tenant_id, persona_id)
    (embedded,) = await embed_in_context(embedder, [TextInContext(new.text)])
    properties = memory_properties(new, policy, now)
    audited = {"memory_type": new.memory_type, "importance": new.importance, "pinned": new.pinned}
    await graph.write_if(
        lambda rows: check_added(rows, persona_id, properties),
        "memory/memories/add_memory",
        tenant_id=caller.tenant_id,
        persona_id=persona_id,
        memory={
            **properties,
            **embedded.properties_without_embedding,
            "search_scope": search_scope(caller.tenant_id, persona_id),
        },
        index_properties=index_properties(new.content),
        label=new.memory_type.value.capitalize(),
        embedding=embedded.embedding,
        sources=list(new.source_message_ids),
        **caller.visibility,
        event={**audit_event(caller, "remembered", now), "after": encode_content(audited)},
    )
    # Read as the tenant: a memory without messages is shown to no user, not even to its author.
    return await get_memory(graph, replace(caller, user_id=None), properties["id"], now=now)


def memory_properties(new: NewMemory, policy: Policy, now: datetime) -> Row:
    """A new memory as it is stored, but for its vectors."""
    category = index_properties(new.content)["category"]
    figures = policy.of(new.memory_type.value, category)
    return {
        "id": new.chosen_id or new_id(),
        **item_properties(new.memory_type, new.text, new.content),
        "said_at": new.said_at or now,
        "tags": list(dict.fromkeys(new.tags)),
        "project": new.project,
        "importance": new.importance,
        "idle_importance": new.importance,
        "pinned": new.pinned,
        "fades_at": None if new.pinned else now + timedelta(days=figures.decay_days),
    }


def check_added(rows: list[Row], persona_id: str, properties: Row) -> None:
    """Refuse what `add_memory` could not keep, and an id that another memory has."""
    if not rows:
        raise PersonaNotFound(persona_id)
    (row,) = rows
    if row["missing"]:
        raise MessageNotFound(row["missing"][0])
    if row["flagged"]:
        raise Invalid(f"Message {row['flagged'][0]!r} is flagged: nothing is drawn from it.")
    compared = {name: properties[name] for name in ("memory_type", "text", "content")}
    if row["taken"] or row["kept"] != {"persona_id": persona_id, **compared}:
        raise IdTaken("memory", properties["id"])


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
    if modifier is None:
        row = await find_memory_row(graph, caller, memory_id)
        policy = await read_policy(graph, caller.tenant_id, row["persona_id"])
        modifier = policy.of(row["memory_type"], row["category"]).minimize_factor
    return await update_memory(
        graph,
        caller,
        "memory/memories/minimize_memory",
        memory_id,
        audit_event(caller, "minimized" if modifier < 1 else "restored", now),
        badges_for_all=badges_for_all,
        modifier=modifier,
    )


async def archive_memory(graph: Graph, caller: Caller, memory_id: str, *, now: datetime) -> Memory:
    """Archive a memory: it is recalled only when archived ones are asked for."""
    event = audit_event(caller, "archived", now)
    return await update_memory(graph, caller, "memory/memories/archive_memory", memory_id, event)


async def unarchive_memory(
    graph: Graph, caller: Caller, memory_id: str, *, now: datetime
) -> Memory:
    """Make an archived memory active. This counts as an access, so it is not archived at once."""
    event = audit_event(caller, "unarchived", now)
    return await update_memory(graph, caller, "memory/memories/unarchive_memory", memory_id, event)


async def update_memory(
    graph: Graph,
    caller: Caller,
    statement: str,
    memory_id: str,
    event: Row,
    *,
    badges_for_all: bool = False,
    **parameters: Any,
) -> Memory:
    """Run a statement that changes one memory, and return the memory after it."""

    async def work(write: Write) -> None:
        rows = await write(
            statement,
            tenant_id=caller.tenant_id,
            memory_id=memory_id,
            **caller.visibility,
            event=event,
            **parameters,
        )
        if not rows:
            raise MemoryNotFound(memory_id)
        # Whether the fact it states still counts decides until when earlier facts hold.
        settled = await write(
            "memory/facts/settle_facts", tenant_id=caller.tenant_id, memory_ids=[memory_id]
        )
        withdrawn: list[str] = []
        changed_ids = [*rows[0]["changed_ids"], *(row["id"] for row in settled)]
        if event["action"] == "unarchived" and rows[0]["changed_ids"]:
            # No shape may claim what lives again.
            withdrawn, linked = await withdraw_shapes(write, caller.tenant_id, [memory_id])
            changed_ids += withdrawn + linked
        await log_changes(
            write,
            caller.tenant_id,
            rows[0]["persona_id"],
            changed_ids,
            content=bool(withdrawn),
        )

    await graph.write_with(work, name=statement)
    return await get_memory(
        graph, caller, memory_id, now=event["at"], badges_for_all=badges_for_all
    )


def memory_from_row(row: Row, policy: Policy, now: datetime) -> Memory:
    """A memory with its salience of now: the stored one, less what has faded since it was stored.

    Flags that the caller may not see do not count in its weight.
    """
    properties: dict[str, Any] = dict(row)
    figures = policy.of(properties["memory_type"], properties["category"])
    idle = (now - properties.pop("salience_at")).total_seconds() / SECONDS_PER_DAY
    weight = shown_weight(properties)
    for name in ("weight_modifier", "own_modifier", "acts", "shown_acts"):
        properties.pop(name)
    return Memory(
        memory_id=properties.pop("id"),
        memory_type=MemoryType(properties.pop("memory_type")),
        state=MemoryState(properties.pop("state")),
        content=decode_content(properties.pop("content")),
        source_message_ids=properties.pop("sources"),
        salience=round(salience_after(properties.pop("salience"), max(0.0, idle), figures), 6),
        weight_modifier=weight,
        **properties,
    )
