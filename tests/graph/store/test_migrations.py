"""On a Neo4j of their own, since they start from nothing, again and again."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

import cypher
from engine.embedding import Embedder, claim_model
from engine.errors import ModelMismatch, SchemaDrift, SchemaTooNew, StatementFailed
from engine.settings import Settings
from engine.store import migrations
from engine.store.graph import Graph
from engine.store.migrations import ALL, Migration, migrate, pending
from tests.conftest import Statements
from tests.servers import Neo4jServer, local_neo4j

BASELINE = ALL[0]


@pytest.fixture(scope="module")
def spare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    with local_neo4j(tmp_path_factory.mktemp("spare")) as server:
        yield server


@pytest.fixture
async def empty(spare: Neo4jServer) -> AsyncIterator[Graph]:
    """A graph with nothing in it, no schema either."""
    opened = Graph.open(
        Settings(
            _env_file=None,
            neo4j_uri=spare.uri,
            neo4j_password=spare.password,
        )
    )
    await ask(opened, "MATCH (n) DETACH DELETE n")
    for row in await ask(opened, "SHOW CONSTRAINTS YIELD name"):
        await ask(opened, f"DROP CONSTRAINT {row['name']}")
    for row in await ask(opened, "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'"):
        await ask(opened, f"DROP INDEX {row['name']}")
    yield opened
    await opened.close()


@pytest.fixture
def few(statements: Statements) -> list[Migration]:
    """Migrations of the test's own: enough to see who applies them, and in which order."""
    names = [f"{number:04}_{word}" for number, word in enumerate(("a", "b", "c", "d"), start=1)]
    step = "CREATE (:Step {{name: '{}', at: datetime.realtime()}});"
    for name in names:
        statements(**{name: "\n".join(step.format(f"{name}-{n}") for n in (1, 2))})
    return [Migration.named(name) for name in names]


async def steps(graph: Graph) -> list[Any]:
    rows = await ask(graph, "MATCH (step:Step) RETURN step.name AS name ORDER BY step.at")
    return [row["name"] for row in rows]


async def schema(graph: Graph) -> set[object]:
    shown = await ask(graph, "SHOW INDEXES YIELD name, state WHERE state = 'ONLINE'")
    return {row["name"] for row in shown} | await constraints(graph)


async def ask(graph: Graph, statement: str) -> list[dict[str, object]]:
    async with graph._driver.session() as session:
        return await (await session.run(f"CYPHER 25 {statement}")).data()


async def constraints(graph: Graph) -> set[object]:
    return {row["name"] for row in await ask(graph, "SHOW CONSTRAINTS YIELD name")}


@pytest.mark.spec("RUN-03")
async def test_an_empty_graph_goes_through_all_migrations_in_order_and_once(empty: Graph) -> None:
    applied = await migrate(empty)
    again = await migrate(empty)

    assert applied == [migration.id for migration in ALL] == sorted(applied)
    assert again == []
    assert await pending(empty) == []
    assert {"persona_id", "tenant_id", "api_key_id"} <= await constraints(empty)
    recorded = await ask(empty, "MATCH (m:Migration) RETURN m.id AS id, m.applied_at AS at")
    assert len(recorded) == len(ALL)
    assert all(row["at"] for row in recorded)


@pytest.mark.spec("RUN-03")
async def test_of_many_that_start_at_once_each_migration_is_applied_by_one(
    empty: Graph, few: list[Migration]
) -> None:
    done = await asyncio.gather(*(migrate(empty, few) for _ in range(6)))

    applied = [step for steps in done for step in steps]
    assert sorted(applied) == [migration.id for migration in few]
    (lock,) = await ask(empty, "MATCH (lock:MigrationLock) RETURN lock.holder AS holder")
    assert lock["holder"] is None


async def test_the_statements_of_a_migration_run_in_order_and_once(
    empty: Graph, few: list[Migration]
) -> None:
    await migrate(empty, few)
    await migrate(empty, few)

    assert await steps(empty) == [f"{migration.id}-{n}" for migration in few for n in (1, 2)]


async def test_a_graph_half_way_is_brought_the_rest_of_it(
    empty: Graph, few: list[Migration]
) -> None:
    await migrate(empty, few[:3])

    assert await migrate(empty, few) == [migration.id for migration in few[3:]]


async def test_a_half_applied_baseline_is_completed_by_the_next_start(empty: Graph) -> None:
    """What a process leaves that dies inside it: nothing is recorded."""
    written = 0
    async for _ in empty.write_each(BASELINE.file):
        written += 1
        if written == 20:
            break
    half = await schema(empty)

    assert await migrate(empty) == [migration.id for migration in ALL]
    whole = await schema(empty)
    assert half < whole
    created = [
        text for migration in ALL for text in cypher.statements(migration.file) if "CREATE" in text
    ]
    assert len(created) == 71
    # Besides what the files create, the lock's constraint and Neo4j's own two lookup indexes.
    assert len(whole) == len(created) + 3


async def test_a_migration_that_was_applied_and_not_recorded_does_no_harm(empty: Graph) -> None:
    """What a process leaves that dies between the two."""
    async for _ in empty.write_each(BASELINE.file):
        pass

    assert await migrate(empty) == [migration.id for migration in ALL]


async def test_the_lease_of_a_dead_process_runs_out(empty: Graph, few: list[Migration]) -> None:
    await empty.write("store/setup/migration_lock_unique")
    await empty.write("store/setup/take_migration_lock", holder="the dead", seconds=1)

    assert len(await asyncio.wait_for(migrate(empty, few), 30)) == len(few)


async def test_a_long_migration_renews_its_lease(
    empty: Graph, few: list[Migration], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "RENEW", 0.0)
    taken = []
    take_lock = migrations.take_lock

    async def counting(graph: Graph, holder: str) -> None:
        taken.append(holder)
        await take_lock(graph, holder)

    monkeypatch.setattr(migrations, "take_lock", counting)
    await migrate(empty, few)

    assert len(taken) == 1 + 2 * len(few)
    assert len(set(taken)) == 1


async def test_a_failing_migration_gives_the_lock_back(
    empty: Graph, few: list[Migration], statements: Statements
) -> None:
    statements(broken="RETURN 1 / 0 AS n")
    with pytest.raises(StatementFailed):
        await migrate(empty, [few[0], replace(few[1], file="broken")])

    assert await asyncio.wait_for(migrate(empty, few), 10) == [m.id for m in few[1:]]


async def test_a_graph_of_a_newer_version_is_refused(empty: Graph, few: list[Migration]) -> None:
    await migrate(empty, few)

    with pytest.raises(SchemaTooNew, match=few[-1].id):
        await migrate(empty, few[:-1])


async def test_a_migration_changed_after_the_fact_is_refused(
    empty: Graph, few: list[Migration]
) -> None:
    await migrate(empty, few)
    changed = replace(few[2], checksum=hashlib.sha256(b"other").hexdigest())

    with pytest.raises(SchemaDrift, match=changed.id):
        await migrate(empty, [*few[:2], changed, *few[3:]])


def test_numbers_are_without_gaps() -> None:
    assert [m.id[:4] for m in ALL] == [f"{n:04}" for n in range(1, len(ALL) + 1)]
    assert Migration.named(BASELINE.file) == BASELINE
    assert migrations.LEASE > 60


async def test_the_graph_remembers_its_model_and_refuses_another(
    empty: Graph, letters: Embedder
) -> None:
    await migrate(empty)
    other = Embedder(lambda: None, model="digits", dimensions=26, cache=1)  # type: ignore[arg-type,return-value]
    wider = Embedder(lambda: None, model="letters", dimensions=52, cache=1)  # type: ignore[arg-type,return-value]

    await claim_model(empty, letters)
    await claim_model(empty, letters)

    with pytest.raises(ModelMismatch, match="letters.*digits"):
        await claim_model(empty, other)
    with pytest.raises(ModelMismatch, match="384.*52"):
        await claim_model(empty, wider)
