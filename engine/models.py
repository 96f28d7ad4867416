"""Types that several rooms share."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

Row = dict[str, Any]  # what a statement returns, or takes as a parameter
EARLIEST = datetime(1, 1, 2, tzinfo=UTC)  # before every time that is stored
LATEST = datetime(9999, 12, 30, tzinfo=UTC)  # after every time that is stored


class MemoryType(StrEnum):
    """What a memory is about: an event, a fact, a feeling, or what is missing."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    SOMATIC = "somatic"
    FORGOTTEN_SHAPE = "forgotten_shape"  # never extracted or proposed: what archived ones leave


# What a runtime can propose, and what extraction draws.
PROPOSED_TYPES = (MemoryType.EPISODIC, MemoryType.SEMANTIC, MemoryType.SOMATIC)


@dataclass(frozen=True, slots=True)
class Passage:
    """The place of a passage in the message that it is a part of."""

    number: int  # from 1
    of: int  # how many passages the message has
    start: int  # position of its first character in the message
    end: int  # of the character after its last

    @classmethod
    def stored(cls, place: Sequence[int] | None) -> "Passage | None":
        """The passage that the property `passage` of an item names; None when it is no passage."""
        return cls(*place) if place else None


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a caller's rate limit, as the response headers say it."""

    policy: str
    limit: int
    remaining: int
    seconds: int  # until the full limit is available again
