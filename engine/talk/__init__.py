"""Conversations and their messages, checkpoints, splits, exports, and events for open devices.

Messages are recorded once and never changed.
"""

from engine.talk.checkpoints import list_checkpoints, list_overdue_checkpoints, make_checkpoints
from engine.talk.conversations import (
    MESSAGE_OVERDUE_AFTER,
    add_conversation,
    flag_record,
    get_conversation,
    list_conversations,
    list_messages,
    record_messages,
    sees_every_badge,
)
from engine.talk.events import (
    EVERY_CONVERSATION,
    DeviceNotifier,
    Event,
    acknowledgment_from_row,
    last_place,
    listen,
    notify_conversation,
    notify_devices,
    record_effect,
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
    "EVERY_CONVERSATION",
    "MESSAGE_OVERDUE_AFTER",
    "Acknowledgment",
    "Checkpoint",
    "Conversation",
    "Deprioritization",
    "DeviceNotifier",
    "Event",
    "ExportFormat",
    "Message",
    "Speaker",
    "Split",
    "acknowledgment_from_row",
    "add_conversation",
    "export_conversation",
    "find_chosen",
    "find_message",
    "find_run",
    "flag_record",
    "get_conversation",
    "last_place",
    "list_checkpoints",
    "list_conversations",
    "list_messages",
    "list_overdue_checkpoints",
    "listen",
    "make_checkpoints",
    "notify_conversation",
    "notify_devices",
    "record_effect",
    "record_messages",
    "sees_every_badge",
    "split_conversation",
]
