"""What has changed among a persona's items since a cache of them was read."""

from dataclasses import dataclass

from engine.store import Graph

MAX_CHANGED_IDS = 2_000  # of more, reading everything again is cheaper


@dataclass(frozen=True, slots=True)
class Changes:
    """What a cache has to read again to be as new as `revision`."""

    revision: int
    item_ids: list[str]
    content: bool  # whether one of them is new, or its text or vectors are
    reload: bool  # whether anything may have changed; `item_ids` is empty then


async def read_changes(
    graph: Graph, tenant_id: str, persona_id: str, *, since: int, limit: int = MAX_CHANGED_IDS
) -> Changes:
    """What has changed since a revision; -1 stands for a cache that holds nothing yet.

    Whatever is read after this shows all that was committed up to the returned revision. It is a
    write to the graph: it waits for a change that is just being committed.
    """
    (row,) = await graph.write(
        "recall/search/read_changes",
        tenant_id=tenant_id,
        persona_id=persona_id,
        since=since,
        limit=limit,
    )
    return Changes(**row)
