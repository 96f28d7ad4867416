"""Acts of flagging, ranges of flagged messages, and what flags change."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from engine.memory import LinkKey
from engine.models import Row
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


@dataclass(frozen=True, slots=True)
class FlagAct:
    """One act of flagging. Its id is the id of the range, and of the acknowledgment."""

    id: str
    by: str
    at: datetime
    is_range: bool

    @property
    def parameters(self) -> Row:
        return {"id": self.id, "is_range": self.is_range, "by": self.by, "at": self.at}


@dataclass(frozen=True, slots=True)
class RecentAcknowledgment:
    """The acknowledgment that the same person was given just before: it becomes the plural one."""

    persona_id: str
    contents: list[str]  # of the flagged messages that it answers


@dataclass(frozen=True, slots=True)
class Selection:
    """What is read about messages before they are flagged."""

    conversation_id: str
    is_admin: bool  # whether the caller is an admin of the conversation's instance
    persona_id: str  # of the first message
    contents: list[str]  # what the messages say: none of it may be in the acknowledgment
    personas: dict[str, Row]  # of the conversation, by id: name, tone and layers of policy
    recent: RecentAcknowledgment | None


@dataclass(frozen=True, slots=True)
class UndoScope:
    """The conversation in which flags are undone."""

    conversation_id: str
    is_admin: bool  # whether the caller is an admin of the conversation's instance
