"""The change log of a persona: which items have changed, in the order of commits.

A cache of a persona's items reads from it what it has to read again. Most statements log what they
change themselves; a transaction of several logs once, as the last thing it does, since the log's
lock is held until it ends.
"""

from collections.abc import Iterable

from engine.models import Row
from engine.store import Graph, Write

MAX_LOGGED_IDS = 2_000  # items of one change; of more, a cache reads everything again
KEPT_SECONDS = 3_600  # a cache that asked longer ago reads everything again
DELETE_BATCH = 10_000  # changes deleted in one transaction


def as_logged(item_ids: Iterable[str]) -> list[str]:
    """The ids to hand to a statement that logs them: each once, and not many more than it keeps."""
    return sorted(set(item_ids))[: MAX_LOGGED_IDS + 1]


async def log_changes(
    write: Write,
    tenant_id: str,
    persona_id: str,
    item_ids: Iterable[str],
    *,
    content: bool = False,
) -> None:
    """Log that items have changed, as the last write of a transaction.

    With `content`, the text or the vectors of one of them are others too.
    """
    if logged := as_logged(item_ids):
        await write(
            "memory/changes/log_changes",
            tenant_id=tenant_id,
            persona_id=persona_id,
            item_ids=logged,
            content=content,
        )


async def delete_old_changes(
    graph: Graph, persona_parameters: Row, *, kept_seconds: int = KEPT_SECONDS
) -> None:
    """Delete the changes that no cache will ask for, a batch at a time. The newest stays."""
    deleted = DELETE_BATCH
    while deleted == DELETE_BATCH:
        rows = await graph.write(
            "memory/changes/delete_old_changes",
            **persona_parameters,
            seconds=kept_seconds,
            limit=DELETE_BATCH,
        )
        deleted = rows[0]["deleted"] if rows else 0
