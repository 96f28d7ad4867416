"""Conversations, messages and checkpoints, as they are returned to callers."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Speaker(StrEnum):
    """Which side of a conversation a message comes from."""

    USER = "user"
    PERSONA = "persona"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of some personas and people, in one instance."""

    id: str
    instance_id: str
    persona_ids: list[str]
    started_at: datetime
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Deprioritization:
    """The flag on a message: whether the user said it is not worth remembering."""

    is_flagged: bool = False
    flagged_at: datetime | None = None
    flagged_by: str | None = None
    scope: str | None = None
    range_id: str | None = None
    reversed_at: datetime | None = None
    reversal_source: str | None = None


@dataclass(frozen=True, slots=True)
class Acknowledgment:
    """What a persona says when messages are flagged; one for all flags of a burst."""

    acknowledgment_id: str
    persona_id: str
    text: str
    plural: bool
    made_at: datetime


@dataclass(frozen=True, slots=True)
class Message:
    """One thing said in a conversation. Never edited."""

    message_id: str
    conversation_id: str
    persona_id: str
    role: Speaker
    content: str
    timestamp: datetime
    user_id: str | None = None
    speaker: str | None = None
    reply_to: str | None = None
    deprioritization: Deprioritization = Deprioritization()
    can_forget: bool = True  # whether the caller may flag it


@dataclass(frozen=True, slots=True)
class StaleSummary:
    """An earlier summary of a checkpoint, replaced because of flags or a late message."""

    text: str
    made_at: datetime
    stale_at: datetime


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A segment of a conversation about one topic. Flags never remove one."""

    checkpoint_id: str
    conversation_id: str
    label: str | None  # None while too little was said to name it; once given it stays
    from_at: datetime
    to_at: datetime
    summary: str  # sentences of its messages, a line each; none of a flagged message
    message_ids: list[str]
    muted: bool  # all of it is flagged
    stale_summaries: list[StaleSummary]


@dataclass(frozen=True, slots=True)
class Split:
    """A new conversation with copies of messages of another."""

    conversation: Conversation
    message_ids: dict[str, str]  # by the id of each copied message, the id of its copy
