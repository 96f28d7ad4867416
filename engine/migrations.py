"""The graph's schema, one numbered statement after another, each applied once and recorded.

Statements are written to be the same once and twice (IF NOT EXISTS, MERGE), so a process that dies
between applying one and recording it does no harm. A lease lets one process migrate at a time.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

import cypher
from engine.errors import GraphUnavailable, SchemaDrift, SchemaTooNew
from engine.graph import Graph
from engine.models import new_id

LEASE = 300  # seconds one migration may take
POLL = 0.2  # seconds between two looks at a lease that another process holds


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step of the schema."""

    id: str
    statement: str  # its name below cypher/
    checksum: str

    @classmethod
    def named(cls, name: str) -> Self:
        text = cypher.statement(name).encode()
        return cls(name.rpartition("/")[2], name, hashlib.sha256(text).hexdigest())


ALL = tuple(Migration.named(name) for name in cypher.names("migrations"))


async def migrate(graph: Graph, migrations: Sequence[Migration] = ALL) -> list[str]:
    """Bring the graph to this version. Returns the ids that were applied now."""
    # A Neo4j that has just come up plans its first statements slowly; nobody waits for this.
    graph = graph.with_limit(LEASE)
    if not await pending(graph, migrations):
        return []
    await graph.write("setup/migration_lock_unique")
    holder = new_id()
    await take_lock(graph, holder)
    try:
        applied = []
        for migration in await pending(graph, migrations):
            await graph.write(migration.statement)
            await graph.write(
                "setup/record_migration",
                id=migration.id,
                checksum=migration.checksum,
                applied_at=datetime.now(UTC),
            )
            applied.append(migration.id)
            await take_lock(graph, holder)  # a new lease for the next one
        await graph.read("setup/await_indexes", seconds=LEASE)
    finally:
        await graph.write("setup/release_migration_lock", holder=holder)
    return applied


async def pending(graph: Graph, migrations: Sequence[Migration] = ALL) -> list[Migration]:
    """What this graph still has to go through; refuses a graph this version cannot serve."""
    recorded = {row["id"]: row["checksum"] for row in await graph.read("setup/list_migrations")}
    known = {migration.id: migration.checksum for migration in migrations}
    for applied, checksum in recorded.items():
        if applied not in known:
            raise SchemaTooNew(applied)
        if known[applied] != checksum:
            raise SchemaDrift(applied)
    return [migration for migration in migrations if migration.id not in recorded]


async def take_lock(graph: Graph, holder: str) -> None:
    async def wait() -> None:
        while True:
            (answer,) = await graph.write("setup/take_migration_lock", holder=holder, seconds=LEASE)
            if answer["taken"]:
                return
            await asyncio.sleep(POLL)

    try:
        await asyncio.wait_for(wait(), LEASE * 2)
    except TimeoutError as error:
        raise GraphUnavailable("another process has been migrating it for minutes") from error
