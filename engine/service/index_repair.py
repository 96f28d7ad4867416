"""Indexes that Neo4j gave up over a value they cannot hold, made again.

Can be run again: a repair that was interrupted goes on, and what is done is left alone.
"""

import json
from typing import Any

from engine.bounds import KEY_BYTES
from engine.memory import index_properties
from engine.store import Graph

AT_ONCE = 500  # items
DROPPED_BY = {"meaning": "embedding/drop_vector_index", "words": "embedding/drop_text_index"}
LONGEST = {"category": KEY_BYTES, "fact": KEY_BYTES, "about": KEY_BYTES}


async def refile_items(graph: Graph) -> int:
    """File the items again whose category, fact or feeling is beyond its bound; how many."""
    refiled = 0
    while True:
        rows = await graph.read(
            "service/index_repair/list_unindexable_items", longest=LONGEST, limit=AT_ONCE
        )
        if not rows:
            return refiled
        await graph.write(
            "service/index_repair/update_index_properties",
            items=[
                {
                    "tenant_id": row["tenant_id"],
                    "id": row["id"],
                    "index_properties": index_properties(parsed(row)),
                }
                for row in rows
            ],
        )
        refiled += len(rows)


async def repair_indexes(graph: Graph) -> list[str]:
    """Drop the indexes over memories that Neo4j gave up, so that they are made again.

    One that met a value too long for it has failed and stays so. What is too long is filed again
    first, or the new index would fail as well. Returns which were dropped.
    """
    rows = await graph.read("store/setup/list_failed_indexes")
    failed = sorted({row["name"] for row in rows} & DROPPED_BY.keys())
    if failed:
        await refile_items(graph)
    for name in failed:
        await graph.write(DROPPED_BY[name])
    return failed


def parsed(row: dict[str, Any]) -> dict[str, Any]:
    """The content of an item; empty when it cannot be read."""
    try:
        content = json.loads(row["content"] or "{}")
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
