"""Splits a conversation into segments of one topic each. Pure functions.

One pass, from the oldest message to the newest. A silence of hours always ends a segment. Otherwise
a segment ends where the next messages are far from its recent ones in meaning; when that never
happens, it ends at its weakest place once it is too long.

Whether a segment ends at a message depends on the messages before it and on a few after it. So all
segments but the last are final, and continuing from the last one gives the same result as starting
over.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np

from engine.embedding import Vector

SILENCE = timedelta(hours=3)  # ends a segment, whatever is said after it
# Windows count messages with a reliable embedding only.
WINDOW_AFTER = 4  # messages that show what comes next
WINDOW_BEFORE = 6  # messages that show what the segment is about
MIN_SEGMENT_MESSAGES = 4  # before a segment can end by drift
DRIFT_THRESHOLD = 0.35  # cosine of both windows; below it the topic has changed
MAX_SEGMENT_MESSAGES = 60  # of any kind


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation that is split into segments."""

    id: str
    said_at: datetime
    speaker: str  # name to show
    content: str
    arrival: int = 0  # its number in the conversation
    flagged: bool = False
    # Greetings, fillers and repeats have no embedding.
    embedding: Vector | None = field(default=None, compare=False)
    reliable: bool = True  # whether the encoder knows enough of the text to compare its embedding


@dataclass(frozen=True, slots=True)
class Span:
    """The time from the first to the last message of a segment."""

    id: str
    from_at: datetime
    to_at: datetime

    def distance(self, moment: datetime) -> timedelta:
        """How long before or after the segment a moment is; zero inside of it."""
        return max(self.from_at - moment, moment - self.to_at, timedelta())


def in_order(turns: Sequence[Turn]) -> list[Turn]:
    """The messages by the time they were said."""
    return sorted(turns, key=lambda turn: (turn.said_at, turn.arrival, turn.id))


def segment(turns: Sequence[Turn]) -> list[list[Turn]]:
    """The segments of these messages, in order. The last one may change when more is said."""
    segments: list[list[Turn]] = []
    turns = in_order(turns)
    start = 0
    while start < len(turns):
        end = start + first_segment_length(turns[start : start + MAX_SEGMENT_MESSAGES + 1])
        segments.append(turns[start:end])
        start = end
    return segments


def first_segment_length(turns: Sequence[Turn]) -> int:
    """The number of messages in the segment that starts with the first of these."""
    before_silence = length_before_silence(turns)
    comparable = [
        index
        for index in range(min(before_silence, MAX_SEGMENT_MESSAGES))
        if turns[index].embedding is not None and turns[index].reliable
    ]
    # Entry n belongs to a boundary before comparable[MIN_SEGMENT_MESSAGES + n].
    similarities = [
        cosine(
            turns,
            comparable[max(0, split - WINDOW_BEFORE) : split],
            comparable[split : split + WINDOW_AFTER],
        )
        for split in range(MIN_SEGMENT_MESSAGES, len(comparable) - WINDOW_AFTER + 1)
    ]
    low = first_minimum_below(similarities, DRIFT_THRESHOLD)
    is_too_long = before_silence > MAX_SEGMENT_MESSAGES
    if low is not None:
        is_final = low + 1 < len(similarities) or before_silence < len(turns) or is_too_long
        if not is_final:  # the next message may move the minimum
            return before_silence
        return with_question(turns, comparable[MIN_SEGMENT_MESSAGES + low])
    if not is_too_long:
        return before_silence
    if not similarities:
        return MAX_SEGMENT_MESSAGES
    weakest = similarities.index(min(similarities))
    return with_question(turns, comparable[MIN_SEGMENT_MESSAGES + weakest])


def first_minimum_below(values: Sequence[float], threshold: float) -> int | None:
    """The index of the local minimum that follows the first value below a threshold."""
    low = next((index for index, value in enumerate(values) if value < threshold), None)
    while low is not None and low + 1 < len(values) and values[low + 1] < values[low]:
        low += 1
    return low


def length_before_silence(turns: Sequence[Turn]) -> int:
    """The number of messages before the first silence of hours; all when there is none."""
    for index in range(1, len(turns)):
        if turns[index].said_at - turns[index - 1].said_at >= SILENCE:
            return index
    return len(turns)


def cosine(turns: Sequence[Turn], before: Sequence[int], after: Sequence[int]) -> float:
    """The cosine of the mean embeddings of two groups of messages, by their indices."""
    one, other = embedding_sum(turns, before), embedding_sum(turns, after)
    return float(one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-9))


def embedding_sum(turns: Sequence[Turn], indices: Sequence[int]) -> Vector:
    """The sum of these messages' embeddings; it has the direction of their mean."""
    embeddings = [turns[index].embedding for index in indices]
    total: Vector = np.sum([vector for vector in embeddings if vector is not None], axis=0)
    return total


def with_question(turns: Sequence[Turn], index: int) -> int:
    """The index at which this message's segment starts: that of the question before it, if any."""
    previous = turns[index - 1]
    is_question = previous.embedding is None and previous.content.rstrip().endswith("?")
    return index - 1 if is_question else index


def assign_late_turns(
    spans: Sequence[Span], late: Sequence[Turn]
) -> tuple[dict[str, list[Turn]], list[list[Turn]]]:
    """Late messages by the id of the nearest segment, and new segments of those far from any.

    Late messages are those that arrive after messages that were said later.
    """
    open_spans = {span.id: span for span in spans}
    assigned: dict[str, list[Turn]] = {}
    for turn in in_order(late):
        at = turn.said_at
        newest_first = sorted(open_spans.values(), key=lambda span: span.from_at, reverse=True)
        nearest = min(newest_first, key=lambda span: span.distance(at), default=None)
        if nearest is None or nearest.distance(at) >= SILENCE:
            nearest = Span(f"new {turn.id}", at, at)
        open_spans[nearest.id] = Span(nearest.id, min(nearest.from_at, at), max(nearest.to_at, at))
        assigned.setdefault(nearest.id, []).append(turn)
    known = {span.id for span in spans}
    new = [run for id_, turns in assigned.items() if id_ not in known for run in segment(turns)]
    return {id_: turns for id_, turns in assigned.items() if id_ in known}, new
