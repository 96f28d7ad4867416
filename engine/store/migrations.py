"""The graph's schema, one numbered statement after another, each applied once and recorded.

Statements are written to be the same once and twice (IF NOT EXISTS, MERGE), so a process that dies
between applying some and recording them does no harm. A lease lets one process migrate at a time.
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

LEASE = 300  # seconds until another process may go on
# After each change of the schema Neo4j plans every statement anew, so what was applied is recorded
# together: on an empty graph once, with long migrations as often as the lease is renewed.
RENEW = 60.0  # seconds; one migration may take the rest of the lease
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


ALL = tuple(Migration.named(name) for name in cypher.names("store/migrations"))


async def migrate(graph: Graph, migrations: Sequence[Migration] = ALL) -> list[str]:
    """Bring the graph to this version. Returns the ids that were applied now."""
    # A Neo4j that has just come up plans its first statements slowly; nobody waits for this.
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
    """Apply some and record them, also those before one that fails. Returns their ids."""
    unrecorded: list[Migration] = []
    renewed_at = monotonic()
    try:
        for migration in migrations:
            await graph.write(migration.statement)
            unrecorded.append(migration)
            if monotonic() - renewed_at > RENEW:
                await record(graph, unrecorded)
                await take_lock(graph, holder)
                unrecorded, renewed_at = [], monotonic()
    finally:
        await record(graph, unrecorded)
    return [migration.id for migration in migrations]


async def pending(graph: Graph, migrations: Sequence[Migration] = ALL) -> list[Migration]:
    """What this graph still has to go through; refuses a graph this version cannot serve."""
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


async def record(graph: Graph, applied: Sequence[Migration]) -> None:
    """Write down that these have been applied."""
    await graph.write(
        "store/setup/record_migrations",
        migrations=[{"id": it.id, "checksum": it.checksum} for it in applied],
        applied_at=datetime.now(UTC),
    )


async def take_lock(graph: Graph, holder: str) -> None:
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
