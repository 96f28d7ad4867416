"""Whether the change log names every item that differs, after anything that was done."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from cypher.fragments import fragment
from engine.recall.changes import read_changes
from engine.store.graph import Graph, Write

T = TypeVar("T")

CONTENT = ("text", "content", "embedding", "packed_vectors", "token_estimate", "known_share")
STATE = (
    "state",
    "flagged",
    "memory_type",
    "about",
    "category",
    "tags",
    "project",
    "said_at",
    "source_id",
    "conversation_id",
    "valid_from",
    "valid_to",
    "importance",
    "pinned",
    "access_count",
    "weight_modifier",
)
LINK_TYPES = fragment("link_types").split("|")
DUMP = f"""
    CYPHER 25
    MATCH (item:Candidate|Memory {{tenant_id: $tenant_id}})
    RETURN
      item.persona_id AS persona_id,
      item.id AS id,
      [{", ".join(f"item.{name}" for name in CONTENT)}] AS content,
      [item:Memory, {", ".join(f"item.{name}" for name in STATE)}] AS state,
      COLLECT {{
        MATCH (item)-[link]-(other)
        WHERE type(link) IN $link_types
        WITH link, startNode(link).id AS from_id, endNode(link).id AS to_id
        ORDER BY from_id, to_id, type(link)
        RETURN [from_id, to_id, type(link), link.strength, link.weight_modifier]
      }} AS links
"""
REVISIONS = """
    CYPHER 25
    MATCH (log:ChangeLog {tenant_id: $tenant_id})
    RETURN log.persona_id AS persona_id, log.revision AS revision
"""

Items = dict[tuple[str, str], tuple[Any, Any, Any]]  # by persona and id: content, state, links


class ChangeWatch:
    """Compares all that recall reads of a tenant's items with what the change log says."""

    def __init__(self, graph: Graph, tenant_id: str) -> None:
        self.graph = graph
        self.tenant_id = tenant_id
        self.items: Items = {}
        self.revisions: dict[str, int] = {}

    async def ask(self, statement: str) -> list[dict[str, Any]]:
        async with self.graph._driver.session(database=self.graph._database) as session:
            result = await session.run(statement, tenant_id=self.tenant_id, link_types=LINK_TYPES)
            return [dict(record) async for record in result]

    async def read_items(self) -> Items:
        return {
            (row["persona_id"], row["id"]): (row["content"], row["state"], row["links"])
            for row in await self.ask(DUMP)
        }

    async def read_revisions(self) -> dict[str, int]:
        return {row["persona_id"]: row["revision"] for row in await self.ask(REVISIONS)}

    async def begin(self) -> None:
        """Take what is there now as seen."""
        self.items, self.revisions = await self.read_items(), await self.read_revisions()

    async def check(self, *, one_transaction: bool = False) -> bool:
        """Assert that the log names all that has changed since. Returns whether anything was.

        One transaction logs at most once, and nothing when nothing has changed; of several, one
        may have taken back what another did.
        """
        before, after = self.items, await self.read_items()
        differing: dict[str, set[str]] = defaultdict(set)
        new_content: set[str] = set()
        for key in before.keys() | after.keys():
            if before.get(key) != after.get(key):
                differing[key[0]].add(key[1])
                if key in after and (key not in before or before[key][0] != after[key][0]):
                    new_content.add(key[0])
        revisions = await self.read_revisions()
        for persona_id in differing.keys() | revisions.keys():
            since = self.revisions.get(persona_id, 0)
            changes = await read_changes(self.graph, self.tenant_id, persona_id, since=since)
            logged = set(changes.item_ids)
            assert changes.reload or differing[persona_id] <= logged, differing[persona_id] - logged
            assert changes.content >= (persona_id in new_content)
            if one_transaction:
                assert changes.revision == since + bool(differing[persona_id]), logged
                assert changes.content == (persona_id in new_content)
        self.items, self.revisions = after, revisions
        return any(differing.values())


class WatchedGraph(Graph):
    """A graph that compares the change log with the items after each transaction, one at a time."""

    def __init__(self, graph: Graph, tenant_id: str) -> None:
        super().__init__(graph._driver, database=graph._database, patience=graph._patience)
        self._limit = graph._limit
        self.watch = ChangeWatch(graph, tenant_id)
        self.logged_by: set[str] = set()  # names of the transactions that have changed something
        self.turn = asyncio.Lock()

    async def write(self, name: str, /, **parameters: Any) -> list[dict[str, Any]]:
        async with self.watched(name):
            return await super().write(name, **parameters)

    async def write_with(
        self, work: Callable[[Write], Awaitable[T]], *, name: str = "transaction"
    ) -> T:
        async with self.watched(name):
            return await super().write_with(work, name=name)

    async def preview(self, work: Callable[[Graph], Awaitable[T]]) -> T:
        async with self.watched("preview"):
            return await super().preview(work)

    @asynccontextmanager
    async def watched(self, name: str) -> AsyncIterator[None]:
        async with self.turn:
            await self.watch.begin()
            try:
                yield
            finally:  # what was refused has changed nothing, and logs nothing
                if await self.watch.check(one_transaction=True):
                    self.logged_by.add(name)
