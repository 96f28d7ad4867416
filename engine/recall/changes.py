"""What has changed among a persona's items since it was read last, and what is stored of some."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.recall.tables import Columns
from engine.store import Graph

MAX_CHANGED = 2_000  # items; of more, loading the persona anew is cheaper
NOTHING_KNOWN = -1  # a revision that is older than every log
CHECKED = ("state", "flagged", "valid_to", "weight_modifier")  # of every hit, when it is returned

ItemState = Sequence[Any]  # of one item: its id and the values of CHECKED


@dataclass(frozen=True, slots=True)
class Changes:
    """What brings a persona in memory to a revision."""

    revision: int
    reload: bool  # whether anything may have changed; nothing is listed then
    item_ids: list[str]
    items: Columns  # of these, as far as they are stored; texts only where content changed
    links: Columns  # of these, both ways
    checked: Sequence[ItemState]  # as it is stored, of the items that were asked for

    @property
    def content(self) -> bool:
        """Whether an item is new, or its text or vectors are."""
        return any(text is not None for text in self.items["text"])


async def read_changes(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    *,
    since: int,
    checked_ids: Sequence[str] = (),
    limit: int = MAX_CHANGED,
) -> Changes:
    """What has changed after a revision, and the stored state of some items, in one round trip.

    A change may be read a moment before all that it did can be seen, so it is to be read again a
    little later: `HotPersona.read_from` says when.
    """
    (row,) = await graph.read(
        "recall/search/read_changes",
        tenant_id=tenant_id,
        persona_id=persona_id,
        since=since,
        limit=limit,
        ids=list(checked_ids),
    )
    return Changes(**row)


async def check_hits(
    graph: Graph, tenant_id: str, persona_id: str, ids: Sequence[str]
) -> tuple[int, Sequence[ItemState]]:
    """The revision of a persona's log, and the stored state of some items, in one round trip.

    What `read_changes` would say when nothing has changed, in a part of its time.
    """
    (row,) = await graph.read(
        "recall/search/check_hits", tenant_id=tenant_id, persona_id=persona_id, ids=list(ids)
    )
    return row["revision"], row["checked"]
