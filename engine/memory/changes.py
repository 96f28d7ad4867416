"""What a step of a run changed, as it is kept in the graph and as it is read again."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from engine.models import Row


def encode_changes(changes: Any) -> str:
    """Changes as a property can hold them; times stay times."""

    def told(value: Any) -> Any:
        if isinstance(value, datetime):
            return {"$at": value.isoformat()}
        if isinstance(value, date):
            return {"$on": value.isoformat()}
        raise TypeError(type(value))

    return json.dumps(changes, default=told, ensure_ascii=False)


def decode_changes(text: str) -> Any:
    def heard(value: dict[str, Any]) -> Any:
        if value.keys() == {"$at"}:
            return datetime.fromisoformat(value["$at"])
        if value.keys() == {"$on"}:
            return date.fromisoformat(value["$on"])
        return value

    return json.loads(text, object_hook=heard)


@dataclass(frozen=True, slots=True)
class Change:
    """One thing a run did, with what was there before."""

    stage: str
    kind: str
    change: dict[str, Any]


def changes_of(step: Row) -> Iterator[Change]:
    """The changes of one step, whichever way it kept them."""
    for kind, changes in decode_changes(step.get("changes") or "{}").items():
        for change in changes:
            yield Change(step["stage"], kind, change)
    if kind := step.get("kind"):
        for change in LISTS[kind](step):
            yield Change(step["stage"], kind, change)


def strengthened(step: Row) -> Iterator[Row]:
    names = ("from_places", "to_ids", "types", "strength_before", "strength_after")
    for at, to_id, kind, before, later in zip(*(step[name] for name in names), strict=True):
        yield {
            "from_id": step["memory_ids"][at],
            "to_id": to_id,
            "type": kind,
            "before": before,
            "after": later,
        }


def pruned(step: Row) -> Iterator[Row]:
    gone: dict[int, list[Row]] = {}
    links = zip(*(step[name] for name in ("from_places", "to_ids", "types")), strict=True)
    for place, (at, to_id, kind) in enumerate(links):
        told = {
            name: step[f"all_{name}"][place] for name in step["names"] if step[f"has_{name}"][place]
        }
        link = {"from_id": step["memory_ids"][at], "to_id": to_id, "type": kind}
        gone.setdefault(at, []).append({**link, "properties": told})
    names = ("memory_ids", "prune_before", "pinned")
    for at, (memory_id, before, pinned) in enumerate(
        zip(*(step[name] for name in names), strict=True)
    ):
        yield {
            "memory_id": memory_id,
            "before": before,
            "links": gone.get(at, []),
            "pinned": pinned,
        }


def decayed(step: Row) -> Iterator[Row]:
    names = ("memory_ids", "importance_before", "importance_after")
    for memory_id, before, later in zip(*(step[name] for name in names), strict=True):
        if before != later:
            yield {"id": memory_id, "before": before, "after": later}


def archived(step: Row) -> Iterator[Row]:
    for memory_id, salience in zip(step["memory_ids"], step["salience_before"], strict=True):
        yield {"id": memory_id, "salience_before": salience}


def rescheduled(step: Row) -> Iterator[Row]:
    yield {"memories": len(step["memory_ids"])}


LISTS = {
    "strengthened": strengthened,
    "pruned": pruned,
    "decayed": decayed,
    "archived": archived,
    "rescheduled": rescheduled,
}
