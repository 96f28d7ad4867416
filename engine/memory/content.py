"""The content of an item on its way into the graph and out of it.

Every candidate and memory passes here: `encode_content` and `index_properties` on the way in,
`decode_content` on the way out.
"""

import json
from typing import Any

from engine.bounds import feeling, indexed
from engine.memory.facts import fact_key, fact_properties
from engine.models import Row


def encode_content(content: dict[str, Any]) -> str:
    """An object as a property can hold it: equal objects give equal texts."""
    return json.dumps(content, sort_keys=True, ensure_ascii=False)


def decode_content(stored: str) -> dict[str, Any]:
    """The object that `encode_content` was given."""
    content: dict[str, Any] = json.loads(stored)
    return content


def index_properties(content: dict[str, Any]) -> Row:
    """The properties by which indexes find an item: its subject, its category, its fact.

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
    }
