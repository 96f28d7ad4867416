"""«Forget This»: flags on messages, undoing them, and the persona's acknowledgments.

Nothing is deleted: what flags change is computed from the flags that stand.
"""

from engine.forgetting.acknowledgments import Acknowledger, Templates, open_acknowledger
from engine.forgetting.flags import (
    FlagRules,
    affected_items,
    flag_message,
    flag_range,
    get_range,
    undo_message,
    undo_range,
)
from engine.forgetting.models import AffectedItems, FlagResult, Range, ReversalSource

__all__ = [
    "Acknowledger",
    "AffectedItems",
    "FlagResult",
    "FlagRules",
    "Range",
    "ReversalSource",
    "Templates",
    "affected_items",
    "flag_message",
    "flag_range",
    "get_range",
    "open_acknowledger",
    "undo_message",
    "undo_range",
]
