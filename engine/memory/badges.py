"""Which flags a caller may see: flags of others are shown to admins only, or to everybody.

An item that is suppressed or minimized by a flag that the caller may not see is shown as if it
were not flagged. Rows of items have `acts`, how many flags count, and `shown_acts`, how many of
them the caller may see.
"""

from engine.access import Caller
from engine.memory.models import CandidateState
from engine.models import Row


def viewer_of(caller: Caller, *, badges_for_all: bool) -> str | None:
    """The user to whom only their own flags are shown; None for callers who see all flags."""
    return None if badges_for_all else caller.sees_as


def shown_weight(row: Row) -> float:
    """The weight of a memory, without the flags that its caller may not see.

    Each flag multiplies the weight by the same factor, so the factor follows from the weight.
    """
    weight: float = row["weight_modifier"]
    acts, shown_acts = row["acts"], row["shown_acts"]
    set_by_hand = row.get("own_modifier")
    unflagged_weight = 1.0 if set_by_hand is None else set_by_hand
    if shown_acts == acts or not unflagged_weight:
        return weight
    factor_per_act = (weight / unflagged_weight) ** (1 / acts)
    return float(unflagged_weight * factor_per_act**shown_acts)


def hides_flags(row: Row) -> bool:
    """Whether an item is flagged, and its caller may see none of the flags."""
    return bool(row["acts"] > 0 and row["shown_acts"] == 0)


def shown_state(row: Row) -> str:
    """The state of an item; a candidate suppressed by flags its caller may not see is pending."""
    state: str = row["state"]
    if state == CandidateState.SUPPRESSED and hides_flags(row):
        return CandidateState.PENDING.value
    return state


def shows_flag(row: Row, viewer: str | None) -> bool:
    """Whether an item is shown as flagged.

    A flag that a duplicate has inherited belongs to no user: only callers who see all see it.
    """
    return bool(row["flagged"]) and (viewer is None or row["shown_acts"] > 0)
