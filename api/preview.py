"""Changes that can be previewed: made for real, or computed and rolled back."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, TypeVar

from litestar.di import NamedDependency
from litestar.params import QueryParameter
from redis.asyncio import Redis

from engine.access import Caller
from engine.forgetting import AffectedItems, affected_items
from engine.memory import Memory, list_links
from engine.settings import Settings
from engine.store import Graph
from engine.talk import record_effect

T = TypeVar("T")

Preview = Annotated[
    bool,
    QueryParameter(description="Answer with exactly what would change, and change nothing."),
]


async def run_or_preview(
    graph: Graph, work: Callable[[Graph], Awaitable[T]], *, preview: bool
) -> T:
    """Run `work` on the graph, or with `preview` in a transaction that is rolled back."""
    return await graph.preview(work) if preview else await work(graph)


@dataclass(frozen=True, slots=True)
class ItemChange:
    """Runs a caller's change of one candidate or memory, and tells open devices of it."""

    caller: Caller
    graph: Graph
    redis: Redis
    now: datetime
    badges_for_all: bool

    async def apply(self, work: Callable[[Graph], Awaitable[T]], *, effect: str, item_id: str) -> T:
        """Run `work`, then record its effect as an event of the item's conversations."""
        result = await work(self.graph)
        await record_effect(self.graph, self.redis, self.caller, effect, [item_id], now=self.now)
        return result

    async def apply_or_preview(
        self,
        work: Callable[[Graph], Awaitable[Memory]],
        *,
        effect: str,
        memory_id: str,
        preview: bool,
    ) -> Memory | AffectedItems:
        """The changed memory, or with `preview` what would change; then nothing is kept."""
        if not preview:
            return await self.apply(work, effect=effect, item_id=memory_id)

        async def list_affected(graph: Graph) -> AffectedItems:
            await work(graph)
            return await affected_by_memory(graph, self.caller, memory_id)

        return await self.graph.preview(list_affected)


def provide_item_change(
    caller: NamedDependency[Caller],
    graph: NamedDependency[Graph],
    redis: NamedDependency[Redis],
    now: NamedDependency[datetime],
    settings: NamedDependency[Settings],
) -> ItemChange:
    return ItemChange(caller, graph, redis, now, settings.badges_for_all)


async def affected_by_memory(graph: Graph, caller: Caller, memory_id: str) -> AffectedItems:
    """A memory and its outgoing links: what minimizing or archiving it changes."""
    links = await list_links(graph, caller, memory_id)
    return affected_items(
        {
            "memory_ids": [memory_id],
            "links": [
                {"from_id": link.from_id, "to_id": link.to_id, "type": link.type.value}
                for link in links
                if link.from_id == memory_id
            ],
        }
    )
