"""Where one topic of a conversation ends and the next begins. Values in, values out.

One pass, from the oldest message to the newest. Silence of hours always ends a segment. Otherwise
one ends where what follows has little to do with what it was about so far, which takes a few
messages to see, and, when that never happens, at its weakest place once it is too long.

What is decided about a place depends on what was said before it and on the few messages after it.
So all segments but the last stay as they are however much is said later, and going on from the
last one comes to the same as beginning anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np

from engine.embedding import Vector

SILENCE = timedelta(hours=3)  # ends a segment, whatever is said after it
AHEAD = 4  # messages with a meaning of their own that show what comes next
RECENT = 6  # of them that show what it was about so far
LEAST = 4  # of them in a segment that ends by drift
DRIFT = 0.35  # cosine of what it was about and what comes next: below it the topic has changed
LONGEST = 60  # messages of a segment


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as it is put into a segment."""

    id: str
    said_at: datetime
    speaker: str  # as others would call them
    content: str
    arrival: int = 0  # its number in the conversation
    flagged: bool = False
    meaning: Vector | None = field(
        default=None, compare=False
    )  # none of greetings, fillers, repeats
    legible: bool = True  # whether the encoder knows enough of it for its meaning to be compared


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when a segment was said."""

    id: str
    from_at: datetime
    to_at: datetime

    def away(self, moment: datetime) -> timedelta:
        """How long before or after it this was; nothing if it was meanwhile."""
        return max(self.from_at - moment, moment - self.to_at, timedelta())


def in_order(turns: Sequence[Turn]) -> list[Turn]:
    return sorted(turns, key=lambda turn: (turn.said_at, turn.arrival, turn.id))


def segment(turns: Sequence[Turn]) -> list[list[Turn]]:
    """The segments of what was said, in order. The last one may still change when more is said."""
    found: list[list[Turn]] = []
    turns = in_order(turns)
    start = 0
    while start < len(turns):
        end = start + length_of_first(turns[start : start + LONGEST + 1])
        found.append(turns[start:end])
        start = end
    return found


def length_of_first(turns: Sequence[Turn]) -> int:
    """How many of these messages are of one segment, when it begins with the first of them."""
    within = before_silence(turns)
    told = [
        place
        for place in range(min(within, LONGEST))
        if turns[place].meaning is not None and turns[place].legible
    ]
    near = [
        cosine(turns, told[max(0, nth - RECENT) : nth], told[nth : nth + AHEAD])
        for nth in range(LEAST, len(told) - AHEAD + 1)
    ]
    lows = (at for at, nearness in enumerate(near) if nearness < DRIFT)
    if (low := next(lows, None)) is not None:
        # What comes next was first seen from afar: it begins where the two are least alike.
        while low + 1 < len(near) and near[low + 1] < near[low]:
            low += 1
        if low + 1 < len(near) or within < len(turns) or within > LONGEST:
            return opening(turns, told[LEAST + low])
        return within  # it may be said any moment where that is
    if within <= LONGEST:
        return within
    return opening(turns, told[LEAST + near.index(min(near))]) if near else LONGEST


def before_silence(turns: Sequence[Turn]) -> int:
    """How many of these were said before the first silence of hours."""
    for place in range(1, len(turns)):
        if turns[place].said_at - turns[place - 1].said_at >= SILENCE:
            return place
    return len(turns)


def cosine(turns: Sequence[Turn], so_far: Sequence[int], next_: Sequence[int]) -> float:
    one, other = (sum_of(turns, places) for places in (so_far, next_))
    return float(one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-9))


def sum_of(turns: Sequence[Turn], places: Sequence[int]) -> Vector:
    """Which points where their mean does."""
    meanings = [turns[place].meaning for place in places]
    total: Vector = np.sum([it for it in meanings if it is not None], axis=0)
    return total


def opening(turns: Sequence[Turn], place: int) -> int:
    """Where the segment of this message begins: at the question that it answers, if any."""
    before = turns[place - 1]
    is_asked = before.meaning is None and before.content.rstrip().endswith("?")
    return place - 1 if is_asked else place


def join(
    spans: Sequence[Span], late: Sequence[Turn]
) -> tuple[dict[str, list[Turn]], list[list[Turn]]]:
    """Where messages belong that arrive after later ones have: the nearest segment, by its id.

    Those said hours away from any make segments of their own.
    """
    around = {span.id: span for span in spans}
    joined: dict[str, list[Turn]] = {}
    for turn in in_order(late):
        at = turn.said_at
        newest_first = sorted(around.values(), key=lambda it: it.from_at, reverse=True)
        span = min(newest_first, key=lambda it: it.away(at), default=None)
        if span is None or span.away(at) >= SILENCE:
            span = Span(f"beside {turn.id}", at, at)
        around[span.id] = Span(span.id, min(span.from_at, at), max(span.to_at, at))
        joined.setdefault(span.id, []).append(turn)
    known = {span.id for span in spans}
    alone = [run for id_, turns in joined.items() if id_ not in known for run in segment(turns)]
    return {id_: turns for id_, turns in joined.items() if id_ in known}, alone
