"""On a Neo4j of their own, since they start from nothing, again and again."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from engine.embedding import Embedder, claim_model
from engine.errors import ModelMismatch, SchemaDrift, SchemaTooNew, StatementFailed
from engine.settings import Settings
from engine.store import migrations
from engine.store.graph import Graph
from engine.store.migrations import ALL, Migration, migrate, pending
from tests.conftest import Statements
from tests.servers import Neo4jServer, local_neo4j

FEW = ALL[:6]  # enough to see who applies them, in which order, and who is kept out


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


async def ask(graph: Graph, statement: str) -> list[dict[str, object]]:
    async with graph._driver.session() as session:
        return await (await session.run(f"CYPHER 25 {statement}")).data()


async def constraints(graph: Graph) -> set[object]:
    return {row["name"] for row in await ask(graph, "SHOW CONSTRAINTS YIELD name")}


@pytest.mark.spec("RUN-03")
async def test_an_empty_graph_goes_through_all_of_them_in_order_and_once(empty: Graph) -> None:
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
async def test_of_many_that_start_at_once_each_step_is_applied_by_one(empty: Graph) -> None:
    done = await asyncio.gather(*(migrate(empty, FEW) for _ in range(6)))

    applied = [step for steps in done for step in steps]
    assert sorted(applied) == [migration.id for migration in FEW]
    (lock,) = await ask(empty, "MATCH (lock:MigrationLock) RETURN lock.holder AS holder")
    assert lock["holder"] is None


async def test_a_graph_half_way_is_brought_the_rest_of_it(empty: Graph) -> None:
    await migrate(empty, FEW[:4])

    assert await migrate(empty, FEW) == [migration.id for migration in FEW[4:]]


async def test_a_step_that_was_applied_and_not_recorded_does_no_harm(empty: Graph) -> None:
    """What a process leaves that dies between the two."""
    await empty.write(ALL[0].statement)
    await empty.write(ALL[1].statement)

    assert len(await migrate(empty, FEW)) == len(FEW)


async def test_the_lease_of_a_dead_process_runs_out(empty: Graph) -> None:
    await empty.write("store/setup/migration_lock_unique")
    await empty.write("store/setup/take_migration_lock", holder="the dead", seconds=1)

    assert len(await asyncio.wait_for(migrate(empty, FEW), 30)) == len(FEW)


async def test_a_failing_step_gives_the_lock_back(empty: Graph, statements: Statements) -> None:
    statements(broken="RETURN 1 / 0 AS n")
    with pytest.raises(StatementFailed):
        await migrate(empty, [ALL[0], replace(ALL[1], statement="broken")])

    assert await asyncio.wait_for(migrate(empty, FEW), 10) == [m.id for m in FEW[1:]]


async def test_a_graph_of_a_newer_version_is_refused(empty: Graph) -> None:
    await migrate(empty, FEW)

    with pytest.raises(SchemaTooNew, match=FEW[-1].id):
        await migrate(empty, FEW[:-1])


async def test_a_migration_changed_after_the_fact_is_refused(empty: Graph) -> None:
    await migrate(empty, FEW)
    changed = replace(FEW[2], checksum=hashlib.sha256(b"other").hexdigest())

    with pytest.raises(SchemaDrift, match=changed.id):
        await migrate(empty, [*FEW[:2], changed, *FEW[3:]])


def test_numbers_are_without_gaps() -> None:
    assert [m.id[:4] for m in ALL] == [f"{n:04}" for n in range(1, len(ALL) + 1)]
    assert Migration.named(ALL[0].statement) == ALL[0]
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
