"""Candidates, memories and links, as they are returned to callers."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from engine.models import MemoryType


class CandidateState(StrEnum):
    """The state of a candidate. A night takes only pending ones."""

    PENDING = "pending"
    SUPPRESSED = "suppressed"  # a message it was drawn from is flagged
    PASSED_OVER = "passed_over"  # it was suppressed when its night came; it can be restored
    REMOVED = "removed"
    MERGED = "merged"  # a memory says the same; it was added to that one


class LinkType(StrEnum):
    """The kind of relation from one memory to another."""

    RELATED = "RELATED"
    ENABLES = "ENABLES"
    VALIDATES = "VALIDATES"
    CONTRADICTS = "CONTRADICTS"
    EXTENDS = "EXTENDS"
    PRECEDES = "PRECEDES"
    CAUSALLY_LINKED = "CAUSALLY_LINKED"


@dataclass(frozen=True, slots=True)
class LinkKey:
    """The key of a link: from one memory to another there is one link of each type."""

    from_id: str
    to_id: str
    type: LinkType


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory item drawn from messages, waiting for the night."""

    candidate_id: str
    source_message_ids: list[str]
    persona_id: str
    memory_type: MemoryType
    text: str
    content: dict[str, Any]
    extracted_at: datetime
    editable_until: datetime
    state: CandidateState
    deprioritized: bool = False
    deprioritized_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """Counts of what was drawn from a persona's messages, and of what was left out, by reason."""

    messages: int
    candidates: dict[str, int]
    left_out: dict[str, int]


class MemoryState(StrEnum):
    """Whether a memory is recalled by default, or only when archived ones are asked for."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    WITHDRAWN = "withdrawn"  # a shape that says nothing until the next night draws it again


@dataclass(frozen=True, slots=True)
class Memory:
    """What consolidation, or a caller, kept of a persona's life."""

    memory_id: str
    persona_id: str
    memory_type: MemoryType
    text: str
    content: dict[str, Any]
    category: str | None
    tags: list[str]
    project: str | None
    state: MemoryState
    importance: int
    salience: float
    weight_modifier: float
    pinned: bool
    access_count: int
    accessed_at: datetime | None
    reinforcements: int  # how often it was said again
    source_message_ids: list[str]
    said_at: datetime
    formed_at: datetime
    archived_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    distilled: bool  # from several episodes, rather than from what somebody said


@dataclass(frozen=True, slots=True)
class Link:
    """A relation from one memory to another, and its strength."""

    from_id: str
    to_id: str
    type: LinkType
    strength: float
    weight_modifier: float
    coactivations: int
    coactivated_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Coactivation:
    """Memories that were used together, and how strong the links between them are now."""

    use_id: str
    counted: bool  # false when this use was counted before
    links: list[Link]
