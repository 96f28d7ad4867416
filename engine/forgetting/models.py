"""Ranges of flagged messages, and what flags change."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from engine.memory import LinkKey
from engine.talk import Acknowledgment, Deprioritization


class ReversalSource(StrEnum):
    """Where a flag was undone: at once in the chat, or later in the Memory Manager."""

    UNDO_TOAST = "undo_toast"
    MEMORY_MANAGER = "memory_manager"


@dataclass(frozen=True, slots=True)
class Range:
    """Messages of one conversation that were flagged together."""

    range_id: str
    conversation_id: str
    persona_id: str | None  # if all its messages are of one persona
    persona_ids: list[str]
    message_ids: list[str]
    created_at: datetime
    created_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AffectedItems:
    """What setting or undoing flags changes, or would change, by id and by number."""

    candidate_ids: list[str]
    memory_ids: list[str]
    links: list[LinkKey]
    checkpoint_ids: list[str]
    counts: dict[str, int]  # of each of the four


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagResult(AffectedItems):
    """What setting or undoing flags has changed."""

    conversation_id: str
    range_id: str | None
    records: dict[str, Deprioritization]  # by message, as the caller may see them
    changed: list[str]  # ids of the messages that this call has changed
    acknowledgment: Acknowledgment | None = None
