"""The content of an item on its way into the graph and out of it.

Every candidate and memory passes here: `item_properties`, `item_changes`, `encode_content` and
`index_properties` on the way in, `decode_content` on the way out.
"""

import json
from typing import Any

from engine.bounds import MESSAGE, feeling, indexed
from engine.memory.facts import fact_key, fact_properties
from engine.models import MemoryType, Row


def item_properties(memory_type: MemoryType, text: str, content: dict[str, Any]) -> Row:
    """What an item says, as the properties of a candidate or a memory."""
    return {
        "memory_type": memory_type.value,
        "text": text,
        "content": encode_content(content),
    }


def item_changes(text: str | None, content: dict[str, Any] | None) -> Row:
    """The properties that change when an item is edited; None leaves its part as it is."""
    changes: Row = {}
    if text is not None:
        changes["text"] = text
    if content is not None:
        changes |= {"content": encode_content(content), **index_properties(content)}
    return changes


def encode_content(content: dict[str, Any]) -> str:
    """An object as the text of one property. Equal objects give equal texts."""
    return json.dumps(content, sort_keys=True, ensure_ascii=False)


def decode_content(stored: str) -> dict[str, Any]:
    """The object that `encode_content` was given."""
    content: dict[str, Any] = json.loads(stored)
    return content


def index_properties(content: dict[str, Any]) -> Row:
    """The properties that statements compare: its subject, category, fact, feeling and passage.

    Takes any content. A value too long for an index is cut; a feeling outside its range is left
    out.
    """
    about = content.get("subject") or content.get("who")
    category = content.get("category") or content.get("kind")
    return {
        "about": indexed(about) if isinstance(about, str) else None,
        "category": indexed(category) if isinstance(category, str) else None,
        "fact": fact_key(content),
        **fact_properties(content),
        "valence": feeling(content, "valence"),
        "arousal": feeling(content, "arousal"),
        "passage": passage_place(content),
    }


def passage_place(content: dict[str, Any]) -> list[int] | None:
    """The number, count, start and end of an item that is a passage; None for any other content."""
    passage = content.get("passage")
    if not isinstance(passage, dict):
        return None
    place = [passage.get(name) for name in ("number", "of", "start", "end")]
    numbers = [value for value in place if type(value) is int and 0 <= value <= MESSAGE]
    return numbers if len(numbers) == len(place) else None
