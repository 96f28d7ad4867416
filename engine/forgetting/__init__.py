"""«Forget This»: flags on messages, their undo, and what the persona says to it.

Nothing is deleted; all that a flag changes follows from the flags that stand.
"""

from engine.forgetting.acknowledgments import Acknowledger, Templates, open_acknowledger
from engine.forgetting.flags import (
    FlagRules,
    as_touched,
    flag_message,
    flag_range,
    get_range,
    undo_message,
    undo_range,
)
from engine.forgetting.models import Flagged, Range, ReversalSource, Touched

__all__ = [
    "Acknowledger",
    "FlagRules",
    "Flagged",
    "Range",
    "ReversalSource",
    "Templates",
    "Touched",
    "as_touched",
    "flag_message",
    "flag_range",
    "get_range",
    "open_acknowledger",
    "undo_message",
    "undo_range",
]
