"""Types that several rooms share."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

Row = dict[str, Any]  # what a statement returns, or takes as a parameter
EARLIEST = datetime(1, 1, 2, tzinfo=UTC)  # before every time that is stored


class MemoryType(StrEnum):
    """What a memory is about: an event, a fact, or a feeling."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    SOMATIC = "somatic"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a caller's rate limit, as the response headers say it."""

    policy: str
    limit: int
    remaining: int
    seconds: int  # until the full limit is available again
