"""Repair of indexes that failed because a value was too long for them.

Safe to run again: an interrupted repair continues, and what is repaired is left alone.
"""

from typing import Any

from engine.bounds import KEY_BYTES
from engine.memory import decode_content, index_properties
from engine.store import Graph

BATCH_SIZE = 500  # items
DROP_STATEMENTS = {"meaning": "embedding/drop_vector_index", "words": "embedding/drop_text_index"}
MAX_BYTES = {"category": KEY_BYTES, "fact": KEY_BYTES, "about": KEY_BYTES}


async def refile_items(graph: Graph) -> int:
    """Recompute the index properties of items where one is too long. Returns how many items."""
    refiled = 0
    while True:
        rows = await graph.read(
            "service/index_repair/list_unindexable_items", longest=MAX_BYTES, limit=BATCH_SIZE
        )
        if not rows:
            return refiled
        await graph.write(
            "service/index_repair/update_index_properties",
            items=[
                {
                    "tenant_id": row["tenant_id"],
                    "id": row["id"],
                    "index_properties": index_properties(parse_content(row)),
                }
                for row in rows
            ],
        )
        refiled += len(rows)


async def repair_indexes(graph: Graph) -> list[str]:
    """Drop the failed indexes over memories, so that they are created again. Returns their names.

    An index that met a value too long for it stays failed. Such values are shortened first, or the
    new index would fail as well.
    """
    rows = await graph.read("store/setup/list_failed_indexes")
    failed = sorted({row["name"] for row in rows} & DROP_STATEMENTS.keys())
    if failed:
        await refile_items(graph)
    for name in failed:
        await graph.write(DROP_STATEMENTS[name])
    return failed


def parse_content(row: dict[str, Any]) -> dict[str, Any]:
    """The content of an item; empty when it is not a JSON object."""
    try:
        content = decode_content(row["content"] or "{}")
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
