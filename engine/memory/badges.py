"""Flags as a caller may know of them: those of others are shown to admins, or to everybody.

An item that is held back or down by a flag the caller may not know of is shown as if that flag
were not there.
"""

from engine.access import Caller
from engine.memory.models import CandidateState
from engine.models import Row


def viewer_of(caller: Caller, *, badges_for_all: bool) -> str | None:
    """The user who is shown only their own flags; None for those who are shown all."""
    return None if badges_for_all else caller.sees_as


def shown_weight(stored: Row) -> float:
    """The weight of a memory, without the flags that its caller may not know of."""
    weight: float = stored["weight_modifier"]
    acts, shown = stored["acts"], stored["shown_acts"]
    by_hand = stored.get("own_modifier")
    own = 1.0 if by_hand is None else by_hand
    if shown == acts or not own:
        return weight
    per_act = (weight / own) ** (1 / acts)
    return float(own * per_act**shown)


def shown_state(stored: Row) -> str:
    """The state of a candidate, without the flags that its caller may not know of."""
    state: str = stored["state"]
    hidden = stored["acts"] > 0 and stored["shown_acts"] == 0
    return CandidateState.PENDING.value if state == CandidateState.SUPPRESSED and hidden else state


def shows_flag(stored: Row, viewer: str | None) -> bool:
    """Whether an item is flagged, as far as its caller may know of it.

    What a duplicate has inherited of a flag is nobody's own, and shown to those who see all.
    """
    return bool(stored["flagged"]) and (viewer is None or stored["shown_acts"] > 0)
