"""The graph's schema: numbered migrations, each applied once and recorded.

A migration is a file of statements that may run twice (IF NOT EXISTS, MERGE). A process that dies
inside one, or before it is recorded, does no harm: the next start applies the whole file again. A
lease lets one process migrate at a time.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Self

import cypher
from engine.errors import GraphUnavailable, SchemaDrift, SchemaTooNew
from engine.ids import new_id
from engine.store.graph import Graph

LEASE = 300  # seconds until another process may take over
RENEW = 60.0  # seconds after which the lease is renewed; one statement may take the rest of it
POLL = 0.2  # seconds between two attempts to take a lease that another process holds


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step of the schema."""

    id: str
    file: str  # its name below cypher/
    checksum: str  # of the whole file

    @classmethod
    def named(cls, name: str) -> Self:
        text = cypher.statement(name).encode()
        return cls(name.rpartition("/")[2], name, hashlib.sha256(text).hexdigest())


ALL = tuple(Migration.named(name) for name in cypher.names("store/migrations"))


async def migrate(graph: Graph, migrations: Sequence[Migration] = ALL) -> list[str]:
    """Bring the graph to this version. Returns the ids that were applied now."""
    # A Neo4j that has just started plans its first statements slowly; no caller waits for this.
    graph = graph.with_limit(LEASE - RENEW)
    if not await pending(graph, migrations):
        return []
    await graph.write("store/setup/migration_lock_unique")
    holder = new_id()
    await take_lock(graph, holder)
    try:
        applied = await apply(graph, await pending(graph, migrations), holder)
        await graph.read("store/setup/await_indexes", seconds=LEASE)
    finally:
        await graph.write("store/setup/release_migration_lock", holder=holder)
    return applied


async def apply(graph: Graph, migrations: Sequence[Migration], holder: str) -> list[str]:
    """Apply migrations in order and record each. Returns their ids."""
    renewed_at = monotonic()
    for migration in migrations:
        async for _ in graph.write_each(migration.file):
            if monotonic() - renewed_at > RENEW:
                await take_lock(graph, holder)
                renewed_at = monotonic()
        await record(graph, migration)
    return [migration.id for migration in migrations]


async def pending(graph: Graph, migrations: Sequence[Migration] = ALL) -> list[Migration]:
    """The migrations this graph still lacks; refuses a graph that this version cannot serve."""
    recorded = {
        row["id"]: row["checksum"] for row in await graph.read("store/setup/list_migrations")
    }
    known = {migration.id: migration.checksum for migration in migrations}
    for applied, checksum in recorded.items():
        if applied not in known:
            raise SchemaTooNew(applied)
        if known[applied] != checksum:
            raise SchemaDrift(applied)
    return [migration for migration in migrations if migration.id not in recorded]


async def record(graph: Graph, migration: Migration) -> None:
    """Write down that a migration has been applied."""
    await graph.write(
        "store/setup/record_migration",
        id=migration.id,
        checksum=migration.checksum,
        applied_at=datetime.now(UTC),
    )


async def take_lock(graph: Graph, holder: str) -> None:
    """Take or renew the lease; waits while another process holds it."""

    async def wait() -> None:
        while True:
            (answer,) = await graph.write(
                "store/setup/take_migration_lock", holder=holder, seconds=LEASE
            )
            if answer["taken"]:
                return
            await asyncio.sleep(POLL)

    try:
        await asyncio.wait_for(wait(), LEASE * 2)
    except TimeoutError as error:
        raise GraphUnavailable("another process has been migrating it for minutes") from error
