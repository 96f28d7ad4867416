import asyncio
import socket
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.access.tenants import add_tenant
from engine.errors import Conflict, GraphUnavailable, Invalid
from engine.models import Row
from engine.settings import Settings
from engine.store.graph import (
    Graph,
    Write,
    answer_within,
    causal_chain,
    with_parameter_map,
)
from engine.store.values import (
    dehydrate_datetime,
    driver_dehydrate_datetime,
    driver_hydrate_datetime,
    hydrate_datetime,
    to_python,
)
from tests.conftest import Statements
from tests.stalls import least_seconds


async def test_values_come_back_as_python_knows_them(graph: Graph, statements: Statements) -> None:
    statements(echo="RETURN $value AS value, [date('2026-05-02'), {at: $value}] AS nested")
    moment = datetime(2026, 5, 2, 3, 4, 5, 678901, tzinfo=UTC)

    (row,) = await graph.read("echo", value=moment)

    assert row == {"value": moment, "nested": [date(2026, 5, 2), {"at": moment}]}
    assert type(row["value"]) is datetime


async def test_a_time_that_was_read_and_is_sent_back_is_the_one_that_was_stored(
    graph: Graph, statements: Statements
) -> None:
    statements(
        echo="RETURN $at AS at", same="RETURN $at = datetime('2026-05-02T03:04:05Z') AS same"
    )

    (row,) = await graph.read("echo", at=datetime(2026, 5, 2, 3, 4, 5, tzinfo=UTC))

    assert await graph.read("same", at=row["at"]) == [{"same": True}]


async def test_a_vector_travels_as_32_bit_floats(graph: Graph, statements: Statements) -> None:
    statements(echo="RETURN $v AS v, valueType($v) AS type")
    vector = np.array([0.1, -2.5, 3.25], dtype=np.float32)

    (row,) = await graph.read("echo", v=vector)

    assert row["type"].startswith("VECTOR<FLOAT32 NOT NULL>(3)")
    assert np.array_equal(row["v"], vector)


async def test_a_read_cannot_write(graph: Graph, statements: Statements, tenant_id: str) -> None:
    statements(sly="CREATE (:Probe {tenant_id: $tenant_id})")

    with pytest.raises(Exception, match="AccessMode"):
        await graph.read("sly", tenant_id=tenant_id)


async def test_together_means_all_or_nothing(
    graph: Graph, statements: Statements, tenant_id: str
) -> None:
    statements(
        make="CREATE (:Probe {tenant_id: $tenant_id})",
        count="MATCH (p:Probe {tenant_id: $tenant_id}) RETURN count(p) AS n",
        fail="UNWIND [1, 0] AS n RETURN 1 / n",
    )
    mine = {"tenant_id": tenant_id}

    async def two(write: Write) -> list[Row]:
        await write("make", **mine)
        await write("make", **mine)
        return await write("count", **mine)

    async def one_and_a_failure(write: Write) -> None:
        await write("make", **mine)
        await write("fail")

    counted = await graph.write_with(two)
    with pytest.raises(Exception, match="ArithmeticError"):
        await graph.write_with(one_and_a_failure)

    assert counted == [{"n": 2}]
    assert await graph.read("count", **mine) == [{"n": 2}]


async def test_batches_are_transactions_of_their_own(
    graph: Graph, statements: Statements, tenant_id: str
) -> None:
    statements(
        make="""
            UNWIND $rows AS row
            CREATE (:Probe {tenant_id: $tenant_id, n: 1 / (row - 5)})
            RETURN count(*) AS made""",
        count="MATCH (p:Probe {tenant_id: $tenant_id}) RETURN count(p) AS n",
    )
    sizes: list[int] = []

    with pytest.raises(Exception, match="ArithmeticError"):
        async for (row,) in graph.write_batches("make", range(7), size=2, tenant_id=tenant_id):
            sizes.append(row["made"])

    assert sizes == [2, 2]
    assert await graph.read("count", tenant_id=tenant_id) == [{"n": 4}]


async def test_a_deadlock_is_tried_again_until_both_are_through(
    graph: Graph, statements: Statements, tenant_id: str
) -> None:
    """Two writers that take two locks in opposite order: Neo4j turns one of them back."""
    statements(
        make="FOREACH (n IN ['a', 'b'] | CREATE (:Probe {tenant_id: $tenant_id, n: n, x: 0}))",
        lock="""
            MATCH (p:Probe {tenant_id: $tenant_id, n: $first}) SET p.x = p.x + 1
            WITH p
            UNWIND range(1, 300000) AS slow
            WITH count(slow) AS slow
            MATCH (q:Probe {tenant_id: $tenant_id, n: $second}) SET q.x = q.x + 1""",
        read="MATCH (p:Probe {tenant_id: $tenant_id}) RETURN p.x AS x",
    )
    await graph.write("make", tenant_id=tenant_id)

    orders = [("a", "b"), ("b", "a")] * 3
    await asyncio.gather(
        *(graph.write("lock", tenant_id=tenant_id, first=a, second=b) for a, b in orders)
    )

    assert await graph.read("read", tenant_id=tenant_id) == [{"x": 6}, {"x": 6}]


async def test_breaking_a_constraint_is_a_conflict(
    graph: Graph, statements: Statements, tenant_id: str
) -> None:
    statements(clash="CREATE (:Tenant {id: $tenant_id})")

    with pytest.raises(Conflict):
        await graph.write("clash", tenant_id=tenant_id)


async def test_a_callers_bookmark_lets_another_process_see_its_writes(
    graph: Graph, settings: Settings, statements: Statements, tenant_id: str
) -> None:
    statements(
        make="CREATE (:Probe {tenant_id: $tenant_id})",
        count="MATCH (p:Probe {tenant_id: $tenant_id}) RETURN count(p) AS n",
    )
    with causal_chain() as seen:
        await graph.write("make", tenant_id=tenant_id)
        handed_over = sorted(seen)
    elsewhere = Graph.open(settings)

    assert len(handed_over) == 1
    with causal_chain(handed_over) as seen:
        assert await elsewhere.read("count", tenant_id=tenant_id) == [{"n": 1}]
        await elsewhere.write("make", tenant_id=tenant_id)
        assert set(handed_over) != seen
    await elsewhere.close()


async def test_a_bookmark_nobody_gave_out_is_refused(graph: Graph) -> None:
    with causal_chain(["not-a-bookmark"]), pytest.raises(Invalid):
        await graph.read("store/setup/ping")


async def test_a_cluster_is_reached_by_its_uri_alone(settings: Settings, tenant_id: str) -> None:
    """A routing address: writes go to the leader, reads to whoever may serve them."""
    uri = str(settings.neo4j_uri).replace("bolt://", "neo4j://")
    routed = elsewhere(settings, neo4j_uri=uri)

    assert await routed.read("store/setup/ping") == [{"answer": 1}]
    again = await add_tenant(routed, tenant_id, name="Again", now=datetime.now(UTC))
    assert again.name == "Test"
    await routed.close()


async def test_several_statements_share_one_deadline(
    graph: Graph, settings: Settings, statements: Statements
) -> None:
    """A caller waits for the request, not for each statement in it."""
    statements(slow="UNWIND range(1, 1000000000) AS n RETURN max(n % 7) AS n")

    async def one_request() -> None:
        with answer_within(1.0):
            assert await graph.read("store/setup/ping") == [{"answer": 1}]
            for _ in range(3):
                with pytest.raises(GraphUnavailable):
                    await graph.read("slow")

    assert await least_seconds(one_request, 2) < 2


async def test_a_preview_has_a_deadline_and_tells_that_neo4j_is_away(
    graph: Graph, settings: Settings, statements: Statements
) -> None:
    statements(slow="UNWIND range(1, 1000000000) AS n RETURN max(n % 7) AS n")
    nobody = elsewhere(settings, neo4j_uri="bolt://127.0.0.1:1", neo4j_patience=0.5)

    async def wait_long(preview: Graph) -> list[Row]:
        return await preview.read("slow")

    async def ask(preview: Graph) -> list[Row]:
        return await preview.read("store/setup/ping")

    with answer_within(1.0), pytest.raises(GraphUnavailable):
        await graph.preview(wait_long)
    with pytest.raises(GraphUnavailable):
        await nobody.preview(ask)
    await nobody.close()
    assert await graph.preview(ask) == [{"answer": 1}]


def elsewhere(settings: Settings, **changes: object) -> Graph:
    """A graph with the limits of a deployment, not the long ones of tests."""
    return Graph.open(settings.model_copy(update={"answer_seconds": 7.0, **changes}))


async def refusal_and_seconds(
    settings: Settings, bound: float, **changes: object
) -> tuple[str, float]:
    """What is told of a Neo4j elsewhere, and after how long."""
    refusals: list[str] = []

    async def asked() -> None:
        graph = elsewhere(settings, **changes)
        with pytest.raises(GraphUnavailable) as refused:
            await graph.read("store/setup/ping")
        await graph.close()
        refusals.append(str(refused.value))

    seconds = await least_seconds(asked, bound)
    return refusals[-1], seconds


async def test_a_dead_neo4j_is_told_within_8_seconds(settings: Settings) -> None:
    refusal, seconds = await refusal_and_seconds(settings, 8, neo4j_uri="bolt://127.0.0.1:9")

    assert "Neo4j" in refusal
    assert 3 < seconds < 8  # it was given the time of a restart first


async def test_a_neo4j_that_hangs_is_told_within_8_seconds(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        uri = f"bolt://127.0.0.1:{deaf.getsockname()[1]}"
        _, seconds = await refusal_and_seconds(settings, 8, neo4j_uri=uri)

    assert seconds < 8


async def test_a_statement_that_takes_too_long_is_ended_on_the_server(
    graph: Graph, statements: Statements, tenant_id: str
) -> None:
    statements(
        slow="""
            CREATE (p:Probe {tenant_id: $tenant_id})
            WITH p UNWIND range(1, 1000000000) AS n
            RETURN max(n % 7) AS n""",
        count="MATCH (p:Probe {tenant_id: $tenant_id}) RETURN count(p) AS n",
    )

    with pytest.raises(GraphUnavailable):
        await graph.with_limit(0.5).write("slow", tenant_id=tenant_id)

    await asyncio.sleep(1)
    assert await graph.read("count", tenant_id=tenant_id) == [{"n": 0}]


async def test_a_wrong_password_is_told_without_it(settings: Settings) -> None:
    from pydantic import SecretStr

    wrong = SecretStr("swordfish")
    refusal, seconds = await refusal_and_seconds(settings, 2, neo4j_password=wrong)

    assert "password" in refusal
    assert "swordfish" not in refusal
    assert seconds < 2


def test_without_a_uri_there_is_no_graph() -> None:
    with pytest.raises(GraphUnavailable, match="PENTIMENTO_NEO4J_URI"):
        Graph.open(Settings(_env_file=None))


@given(
    st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2100, 1, 1)),
    st.sampled_from([UTC, None, timezone(timedelta(hours=-3))]),
)
def test_times_are_read_and_written_as_the_driver_would(at: datetime, zone: tzinfo | None) -> None:
    given_time = at.replace(tzinfo=zone)
    packed = dehydrate_datetime(given_time)
    packed_by_driver = driver_dehydrate_datetime(given_time)

    assert (packed.tag, list(packed.fields)) == (
        packed_by_driver.tag,
        list(packed_by_driver.fields),
    )
    read = hydrate_datetime(*packed.fields)
    assert read == to_python(driver_hydrate_datetime(*packed.fields))
    assert read.tzinfo is (UTC if zone else None)


async def test_neo4j_sees_one_map_and_statements_see_their_parameters(
    graph: Graph, statements: Statements
) -> None:
    statements(kinds="RETURN $value AS value, $more.part AS part, [it IN $many | it] AS many")
    assert (
        with_parameter_map("RETURN $value, $more.part") == "RETURN $given.value, $given.more.part"
    )

    for value in (None, "a", "a" * 500, 1, [1, 2], {"part": 3}):
        (row,) = await graph.read("kinds", value=value, more={"part": value}, many=[value])
        assert row == {"value": value, "part": value, "many": [value]}
