"""Words that several rooms share."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

Row = dict[str, Any]  # what a statement returns, or takes as a parameter
EARLIEST = datetime(1, 1, 2, tzinfo=UTC)  # before everything anybody said or did


class MemoryType(StrEnum):
    """What kind of thing is remembered: an event, something held to be so, a feeling."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    SOMATIC = "somatic"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What is left of a caller's limit, as the headers of an answer tell it."""

    policy: str
    limit: int
    remaining: int
    seconds: int  # until the limit is whole again
