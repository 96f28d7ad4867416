"""Conversations: what was said, in checkpoints, as exports and splits, and events for open devices.

Messages are recorded once and never changed.
"""

from engine.talk.checkpoints import list_checkpoints, make_checkpoints, overdue_checkpoints
from engine.talk.conversations import (
    OVERDUE,
    add_conversation,
    as_record,
    get_conversation,
    list_conversations,
    list_messages,
    record_messages,
    sees_every_badge,
)
from engine.talk.events import (
    EVERY,
    Bells,
    Event,
    as_acknowledgment,
    last_place,
    listen,
    ring,
    ring_conversation,
    tell_effect,
)
from engine.talk.exports import ExportFormat, export_conversation
from engine.talk.models import (
    Acknowledgment,
    Checkpoint,
    Conversation,
    Deprioritization,
    Message,
    Speaker,
    Split,
)
from engine.talk.selections import find_chosen, find_message, find_run
from engine.talk.splits import split_conversation

__all__ = [
    "EVERY",
    "OVERDUE",
    "Acknowledgment",
    "Bells",
    "Checkpoint",
    "Conversation",
    "Deprioritization",
    "Event",
    "ExportFormat",
    "Message",
    "Speaker",
    "Split",
    "add_conversation",
    "as_acknowledgment",
    "as_record",
    "export_conversation",
    "find_chosen",
    "find_message",
    "find_run",
    "get_conversation",
    "last_place",
    "list_checkpoints",
    "list_conversations",
    "list_messages",
    "listen",
    "make_checkpoints",
    "overdue_checkpoints",
    "record_messages",
    "ring",
    "ring_conversation",
    "sees_every_badge",
    "split_conversation",
    "tell_effect",
]
