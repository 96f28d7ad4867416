"""What a step of a run changed: encoded for the graph, and decoded again.

A step stores its changes as JSON, or, where a stage changes many memories, as columns: lists of
equal length, one property each.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from engine.models import Row


def encode_changes(changes: Any) -> str:
    """Changes as JSON text. Dates and times are marked, so that `decode_changes` restores them."""

    def encode_time(value: Any) -> Any:
        if isinstance(value, datetime):
            return {"$at": value.isoformat()}
        if isinstance(value, date):
            return {"$on": value.isoformat()}
        raise TypeError(type(value))

    return json.dumps(changes, default=encode_time, ensure_ascii=False)


def decode_changes(text: str) -> Any:
    """The changes that `encode_changes` was given."""

    def decode_time(value: dict[str, Any]) -> Any:
        if value.keys() == {"$at"}:
            return datetime.fromisoformat(value["$at"])
        if value.keys() == {"$on"}:
            return date.fromisoformat(value["$on"])
        return value

    return json.loads(text, object_hook=decode_time)


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that a run changed, with the value before it."""

    stage: str
    kind: str
    change: dict[str, Any]


def changes_of(step: Row) -> Iterator[Change]:
    """The changes of one step, from its JSON and from its columns."""
    for kind, changes in decode_changes(step.get("changes") or "{}").items():
        for change in changes:
            yield Change(step["stage"], kind, change)
    if kind := step.get("kind"):
        for change in COLUMN_READERS[kind](step):
            yield Change(step["stage"], kind, change)


def columns(step: Row, *names: str) -> Iterator[tuple[Any, ...]]:
    """The values of some columns of a step, one tuple for each entry."""
    return zip(*(step[name] for name in names), strict=True)


def strengthened(step: Row) -> Iterator[Row]:
    """Links whose strength was changed. `from_places` are positions in `memory_ids`."""
    names = ("from_places", "to_ids", "types", "strength_before", "strength_after")
    for from_place, to_id, link_type, before, after in columns(step, *names):
        yield {
            "from_id": step["memory_ids"][from_place],
            "to_id": to_id,
            "type": link_type,
            "before": before,
            "after": after,
        }


def pruned(step: Row) -> Iterator[Row]:
    """Memories whose weak links were looked at, each with the links that were removed."""
    removed: dict[int, list[Row]] = {}
    for number, (from_place, to_id, link_type) in enumerate(
        columns(step, "from_places", "to_ids", "types")
    ):
        properties = {
            name: step[f"all_{name}"][number]
            for name in step["names"]
            if step[f"has_{name}"][number]
        }
        link = {"from_id": step["memory_ids"][from_place], "to_id": to_id, "type": link_type}
        removed.setdefault(from_place, []).append({**link, "properties": properties})
    for place, (memory_id, before, pinned) in enumerate(
        columns(step, "memory_ids", "prune_before", "pinned")
    ):
        yield {
            "memory_id": memory_id,
            "before": before,
            "links": removed.get(place, []),
            "pinned": pinned,
        }


def decayed(step: Row) -> Iterator[Row]:
    """Memories whose importance was lowered."""
    for memory_id, before, after in columns(
        step, "memory_ids", "importance_before", "importance_after"
    ):
        if before != after:
            yield {"id": memory_id, "before": before, "after": after}


def archived(step: Row) -> Iterator[Row]:
    """Memories that were archived, with their salience before."""
    for memory_id, salience in columns(step, "memory_ids", "salience_before"):
        yield {"id": memory_id, "salience_before": salience}


def rescheduled(step: Row) -> Iterator[Row]:
    """How many memories a changed policy was applied to."""
    yield {"memories": len(step["memory_ids"])}


COLUMN_READERS = {  # by the kind of a step
    "strengthened": strengthened,
    "pruned": pruned,
    "decayed": decayed,
    "archived": archived,
    "rescheduled": rescheduled,
}
