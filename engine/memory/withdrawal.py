"""Withdrawing shapes: what speaks of a memory that lives again, or is flagged, says nothing."""

from collections.abc import Sequence

from engine.store import Write


async def withdraw_shapes(
    write: Write, tenant_id: str, memory_ids: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Withdraw the shapes of some memories, inside a transaction; the next night redraws them.

    Returns the ids of the shapes, and of the memories that they were linked with.
    """
    (row,) = await write(
        "memory/shapes/withdraw_shapes", tenant_id=tenant_id, memory_ids=list(memory_ids)
    )
    return row["shape_ids"], row["linked_ids"]
