"""A store that one value ended, from the panic to a working index, on a Neo4j of its own."""

import json
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase
from neo4j.exceptions import Neo4jError

from engine.embedding import claim_model, open_embedder
from engine.service.index_repair import repair_indexes
from engine.settings import Settings
from engine.store.graph import Graph
from engine.store.migrations import migrate
from engine.store.server import StoreState, inspect_store
from ops.doctor import move_vector_indexes_away, store_finding
from ops.home import Home
from ops.servers import Process, end, start_neo4j
from tests.servers import INSTALLED, PASSWORD, neo4j_place

MEMORY = {
    "tenant_id": "t",
    "persona_id": "p",
    "state": "active",
    "memory_type": "semantic",
    "flagged": False,
    "minimized": False,
    "text": "x",
}


@pytest.mark.timeout(1200)
async def test_a_store_that_panicked_over_an_index_is_mended(tmp_path: Path) -> None:
    home = Home(tmp_path)
    place = neo4j_place(home.data / "neo4j")
    home.data.mkdir(parents=True)
    place.folder.mkdir()
    settings = Settings(
        _env_file=None, home=INSTALLED, neo4j_uri=place.uri, neo4j_password=PASSWORD
    )
    embedder = open_embedder(settings)

    def seen() -> StoreState:
        return inspect_store(place.uri, "neo4j", PASSWORD, "neo4j")

    def keep(memory_id: str, category: str) -> None:
        vector = [1.0] + [0.0] * (embedder.dimensions - 1)
        content = json.dumps({"category": category})
        memory = {**MEMORY, "id": memory_id, "category": category, "content": content}
        run(
            "CREATE (m:Memory) SET m = $memory, m.embedding = $vector", memory=memory, vector=vector
        )

    def run(statement: str, **parameters: Any) -> list[Any]:
        options: dict[str, Any] = {"max_transaction_retry_time": 0}
        with (
            GraphDatabase.driver(place.uri, auth=("neo4j", PASSWORD), **options) as driver,
            driver.session() as session,
        ):
            return session.run(statement, parameters).values()

    def started() -> Process:
        return start_neo4j(INSTALLED, place, PASSWORD)

    process = started()
    try:
        graph = Graph.open(settings).with_limit(120)
        await migrate(graph)
        await claim_model(graph, embedder)
        await graph.close()
        keep("good", "fact")
        end(process)
        process = started()  # the index is on disk and online now, as in a store in use

        with pytest.raises(Neo4jError):
            keep("bad", "k" * 40_000)
        assert not seen().is_open
        panicked = store_finding(seen(), is_local=True)
        end(process)
        process = started()
        assert not seen().is_open  # it replays its log, and meets the value again
        end(process)

        moved = move_vector_indexes_away(home, "neo4j")
        process = started()
        failed = store_finding(seen(), is_local=True)
        graph = Graph.open(settings).with_limit(120)
        mended = await repair_indexes(graph)
        await claim_model(graph, embedder)
        await graph.read("store/setup/await_indexes", seconds=60)
        await graph.close()

        assert not panicked.ok
        assert "doctor --mend" in panicked.remedy
        assert len(moved) == 1
        assert "meaning" in failed.detail
        assert mended == ["meaning"]
        assert store_finding(seen(), is_local=True).ok
        kept = run("MATCH (m:Memory) RETURN m.id, size(m.category) ORDER BY m.id")
        assert kept[1] == ["good", 4]
        assert kept[0][0] == "bad"
        assert kept[0][1] <= 512
        found = run(
            "CALL db.index.vector.queryNodes('meaning', 5, $vector) YIELD node RETURN node.id",
            vector=[1.0] + [0.0] * (embedder.dimensions - 1),
        )
        assert sorted(row[0] for row in found) == ["bad", "good"]
    finally:
        embedder.close()
        end(process)


def test_nothing_is_put_aside_where_nothing_is(tmp_path: Path) -> None:
    assert move_vector_indexes_away(Home(tmp_path), "neo4j") == []
