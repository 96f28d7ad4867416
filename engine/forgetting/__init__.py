"""«Forget This»: flags on messages, their undo, and what the persona says to it.

Nothing is deleted; all that a flag changes follows from the flags that stand.
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
