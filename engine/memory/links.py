"""Links between memories: listed, and added by hand."""

from datetime import datetime

from engine.access import Caller, audit_event
from engine.errors import Invalid, MemoryNotFound
from engine.memory.content import encode_content
from engine.memory.memories import find_memory_row
from engine.memory.models import Link, LinkType
from engine.models import Row
from engine.policy import read_policy
from engine.store import Graph


async def list_links(graph: Graph, caller: Caller, memory_id: str) -> list[Link]:
    """The links from a memory and to it, the strongest first."""
    await find_memory_row(graph, caller, memory_id)
    rows = await graph.read(
        "memory/memories/list_links",
        tenant_id=caller.tenant_id,
        memory_id=memory_id,
        **caller.visibility,
    )
    return [link_from_row(row["link"]) for row in rows]


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
    """Link two memories of one persona. A link that exists already is not changed.

    Without a strength the link gets the policy's `link_strength`.
    """
    if from_id == to_id:
        raise Invalid("A memory is not linked to itself.")
    source = await find_memory_row(graph, caller, from_id)
    policy = await read_policy(graph, caller.tenant_id, source["persona_id"])
    initial_strength = policy.figures.link_strength if strength is None else strength
    new_link = {
        "from_id": from_id,
        "to_id": to_id,
        "type": link_type.value,
        "strength": initial_strength,
    }
    rows = await graph.write(
        "memory/memories/add_link",
        tenant_id=caller.tenant_id,
        **new_link,
        **caller.visibility,
        prune_below={kind: figures.prune_below for kind, figures in policy.types.items()},
        event={**audit_event(caller, "linked", now), "after": encode_content(new_link)},
    )
    if not rows:
        raise MemoryNotFound(to_id)
    return link_from_row(rows[0]["link"])


def link_from_row(row: Row) -> Link:
    return Link(**{**row, "type": LinkType(row["type"])})
