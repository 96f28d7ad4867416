"""Size limits: of what callers send, and of values in an index.

A range index holds keys of at most 8,160 bytes, all its properties together; the vector index takes
no filter value above 32,766 bytes, and a longer one stops the database. `docs/bounds.md` lists
every indexed property with its limit. What callers send is refused by `api/bodies.py`; what the
engine makes itself (rules, a language model, the night) is cut by `indexed` before it is stored.
"""

import hashlib
import math
from collections.abc import Iterator
from typing import Any

import msgspec

from engine.errors import Invalid

# Lookahead, since $ alone also matches before a newline at the end.
ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._:@+~-]{0,127}$(?!\n)"
ID = 128  # characters, all ASCII

NAME = 200  # characters of the name of a persona, an instance or a key
TITLE = 200
IDENTITY = 20_000  # characters of who a persona is
SPEAKER = 100
TAG = 100
TAGS = 50
PROJECT = 100
CATEGORY = 100
SUBJECT = 200
ATTRIBUTE = 100
MESSAGE = 64_000  # an assistant's longest answers have more than 50,000
ITEM_TEXT = 4_000
RESPONSE = 4_000  # characters of what a recall brought up
SURFACED_BY = 100
QUERY = 4_000
CURSOR = 512
SHADOW_SHAPES = 200  # shown at once: each is compared with every other

CONTENT_BYTES = 16 * 1024  # of an item's `content`, as JSON
CONTENT_DEPTH = 32
KEY_BYTES = 512  # of a derived value that an index compares
LARGEST_INTEGER = 2**63 - 1

FIELDS = {  # characters of the fields of `content` that are indexed
    "subject": SUBJECT,
    "who": SUBJECT,
    "attribute": ATTRIBUTE,
    "category": CATEGORY,
    "kind": CATEGORY,
}
FEELINGS = {"valence": (-1.0, 1.0), "arousal": (0.0, 1.0)}  # lowest and highest value


def indexed(text: str, max_bytes: int = KEY_BYTES) -> str:
    """A text as an index can hold it: if it is longer, its start and a hash of the whole.

    Equal for equal texts and different for different ones, so it can be compared.
    """
    encoded = text.encode(errors="surrogatepass")
    if len(encoded) <= max_bytes:
        return text
    digest = hashlib.sha256(encoded).hexdigest()
    start = encoded[: max_bytes - len(digest) - 1].decode(errors="ignore")
    return f"{start}#{digest}"


def hashed(text: str) -> str:
    """The SHA-256 of a text: of fixed length, and only good for comparing."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def feeling(content: dict[str, Any], name: str) -> float | None:
    """The valence or arousal of an item; None if it is no number inside its range."""
    value = content.get(name)
    lowest, highest = FEELINGS[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if lowest <= value <= highest else None


def check_content(content: dict[str, Any]) -> None:
    """Refuse the `content` of an item that could not be stored, indexed and read again."""
    try:  # the size first, because that is quick for any size
        size = len(msgspec.json.encode(content))
    except RecursionError as error:
        raise Invalid(f"`content` is nested deeper than {CONTENT_DEPTH} levels.") from error
    if size > CONTENT_BYTES:
        raise Invalid(f"`content` has {size} bytes as JSON; {CONTENT_BYTES} at most.")
    for value in values_in(content):
        check_number(value)
    for name, max_length in FIELDS.items():
        value = content.get(name)
        if isinstance(value, str) and len(value) > max_length:
            raise Invalid(f"`content.{name}` has {len(value)} characters; {max_length} at most.")
    for name, (lowest, highest) in FEELINGS.items():
        if content.get(name) is not None and feeling(content, name) is None:
            raise Invalid(f"`content.{name}` is a number from {lowest:g} to {highest:g}.")


def check_number(value: Any) -> None:
    """Refuse a number that Neo4j cannot store."""
    if isinstance(value, bool):
        return
    if isinstance(value, float) and not math.isfinite(value):
        raise Invalid("A number in `content` is not finite.")
    if isinstance(value, int) and not -LARGEST_INTEGER - 1 <= value <= LARGEST_INTEGER:
        raise Invalid("A number in `content` has more than 64 bits.")


def values_in(content: Any) -> Iterator[Any]:
    """All keys and values at any depth. Refuses content that is nested too deep."""
    pending = [(content, 1)]
    while pending:
        value, depth = pending.pop()
        if depth > CONTENT_DEPTH:
            raise Invalid(f"`content` is nested deeper than {CONTENT_DEPTH} levels.")
        if isinstance(value, dict):
            yield from value
            pending += [(inner, depth + 1) for inner in value.values()]
        elif isinstance(value, list):
            pending += [(inner, depth + 1) for inner in value]
        else:
            yield value
