"""What statements can be stored under, and how many values each attribute holds.

The lists are in `attributes.toml`, one for all languages.
"""

from pathlib import Path

import msgspec
from msgspec import Struct


class Attributes(Struct, frozen=True, forbid_unknown_fields=True):
    """The attributes file."""

    single_valued: frozenset[str]
    single_valued_prefixes: tuple[str, ...]
    many_valued: frozenset[str]
    opposites: dict[str, str]


ATTRIBUTES = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=Attributes)
SINGLE_VALUED = ATTRIBUTES.single_valued
OPPOSITES = ATTRIBUTES.opposites  # stating one denies the other of the same value


def is_single_valued(attribute: str) -> bool:
    """Whether a new value of this replaces the old one."""
    return attribute in SINGLE_VALUED or attribute.startswith(ATTRIBUTES.single_valued_prefixes)


def is_known(attribute: str) -> bool:
    """Whether statements may be stored under this."""
    return is_single_valued(attribute) or attribute in ATTRIBUTES.many_valued
