"""Asking first: what an act of forgetting would touch, with nothing touched."""

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from litestar.params import QueryParameter

from engine.access import Caller
from engine.forgetting import AffectedItems, affected_items
from engine.memory import Memory, list_links
from engine.store import Graph

T = TypeVar("T")

Preview = Annotated[
    bool,
    QueryParameter(description="Tell exactly what would be touched, and touch nothing."),
]


async def run_or_preview(
    graph: Graph, work: Callable[[Graph], Awaitable[T]], *, preview: bool
) -> T:
    """Run `work` on the graph, or on one where everything can be done and nothing has happened."""
    return await graph.preview(work) if preview else await work(graph)


async def touched_by(
    preview: Graph, caller: Caller, work: Callable[[Graph], Awaitable[Memory]]
) -> AffectedItems:
    """What `work` changes of a memory and of the links that go out from it."""
    memory = await work(preview)
    links = await list_links(preview, caller, memory.memory_id)
    return affected_items(
        {
            "memory_ids": [memory.memory_id],
            "links": [
                {"from_id": link.from_id, "to_id": link.to_id, "type": link.type.value}
                for link in links
                if link.from_id == memory.memory_id
            ],
        }
    )
