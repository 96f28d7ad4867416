"""Values that an index cannot hold: filed again, and refused as a mistake of ours."""

import json
from typing import Any

import pytest

from engine.errors import StatementFailed
from engine.service.index_repair import refile_items
from engine.store.graph import Graph
from tests.conftest import Statements

MAKE = """
    UNWIND $rows AS row
    CREATE (node:$(row.label) {tenant_id: $tenant_id})
    SET node += row.properties
"""
READ = """
    MATCH (node:$($label) {tenant_id: $tenant_id})
    RETURN properties(node) AS properties
    ORDER BY node.id
"""


async def make(graph: Graph, tenant_id: str, label: str, *nodes: dict[str, Any]) -> None:
    rows = [{"label": label, "properties": {"persona_id": "ada", **node}} for node in nodes]
    await graph.write("make", tenant_id=tenant_id, rows=rows)


async def test_items_beyond_their_bounds_are_filed_again(
    graph: Graph, statements: Statements, tenant_id: str
) -> None:
    statements(make=MAKE, read=READ)
    long = {"category": "k" * 1_000, "subject": "s" * 2_000, "valence": 5}
    fine = {"category": "fact", "subject": "Sam", "valence": 0.5}
    await make(
        graph,
        tenant_id,
        "Memory",
        {"id": "a", **long, "about": long["subject"], "content": json.dumps(long)},
        {"id": "b", "valence": True, "content": json.dumps({"valence": True})},
        {"id": "c", **fine, "about": "Sam", "content": json.dumps(fine)},
        {"id": "d", "category": "k" * 1_000, "content": "no JSON"},
    )

    assert await refile_items(graph) >= 3
    assert await refile_items(graph) == 0

    rows = await graph.read("read", label="Memory", tenant_id=tenant_id)
    cut, felt, same, unread = [row["properties"] for row in rows]
    assert len(cut["category"]) <= 512
    assert len(cut["about"]) <= 512
    assert "valence" not in cut
    assert "valence" not in felt
    assert (same["category"], same["about"], same["valence"]) == ("fact", "Sam", 0.5)
    assert "category" not in unread


async def test_a_value_too_long_for_an_index_is_our_mistake_and_not_tried_again(
    graph: Graph, statements: Statements, tenant_id: str
) -> None:
    statements(
        make="""
            CREATE (:Message {tenant_id: $tenant_id, conversation_id: 'c', fingerprint: $text})"""
    )

    with pytest.raises(StatementFailed) as failed:
        await graph.write("make", tenant_id=tenant_id, text="secret " * 2_000)

    assert "ExecutionFailed" in str(failed.value)
    assert "secret" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__
