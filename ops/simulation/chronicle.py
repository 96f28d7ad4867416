"""The chronicle of a simulated life: how its memories stood each day, and what happened to them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from engine.memory import Memory, MemoryState
from engine.models import Row
from engine.policy import Policy, salience_after

Strengths = npt.NDArray[np.float32]

PERSONA = "Ada"  # who remembers
MILLISECONDS_PER_DAY = 86_400_000.0
ABSENT = np.float32(np.nan)  # the strength of what is not a memory yet


class Happening(StrEnum):
    """What can happen to a memory, or to the message it was drawn from."""

    SAID_AGAIN = "said again"
    RECALLED = "recalled"
    FORGOTTEN = "forgotten on request"
    TAKEN_BACK = "taken back"
    ENDED = "no longer true"
    THEME = "part of a theme"
    FADED = "less important"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a memory."""

    at: datetime
    what: Happening


@dataclass(frozen=True, slots=True)
class Counts:
    """How many memories there are at the end of a day, by how they stand."""

    on: date
    kept: int  # active, with all their weight
    minimized: int
    archived: int
    shaped: int  # forgotten shapes


@dataclass(slots=True)
class Chronicle:
    """One simulated life under one policy."""

    policy: str  # its name
    counts: list[Counts] = field(default_factory=list)
    memories: dict[str, Memory] = field(default_factory=dict)  # at the end, by id
    nights: int = 0  # that were run
    is_restless: bool = True  # whether the newest of them has archived something
    _places: dict[str, int] = field(default_factory=dict)  # of a memory in `_days`, by id
    _days: list[Strengths] = field(default_factory=list)
    _events: dict[str, list[Event]] = field(default_factory=dict)  # by memory or message id

    def observe(self, on: date, standings: Row, policy: Policy, now: datetime) -> None:
        """Add how all memories stand at the end of a day."""
        self.counts.append(count(on, standings))
        for memory_id in standings["ids"]:
            self._places.setdefault(memory_id, len(self._places))
        strengths = np.full(len(self._places), ABSENT, np.float32)
        places = [self._places[memory_id] for memory_id in standings["ids"]]
        strengths[places] = list(strengths_at(standings, policy, now))
        self._days.append(strengths)

    def slept(self, *, archived: bool) -> None:
        """Count a night that was run."""
        self.nights += 1
        self.is_restless = archived

    def happened(self, id_: str, at: datetime, what: Happening) -> None:
        """Add an event of a memory, or of the message it was drawn from."""
        self._events.setdefault(id_, []).append(Event(at, what))

    def finish(self, memories: Iterable[Memory]) -> None:
        """Add the memories as they are at the end."""
        self.memories = {memory.memory_id: memory for memory in memories}

    def strengths_of(self, memory_id: str) -> list[float]:
        """The strength of a memory at the end of each day; NaN before it is one."""
        place = self._places.get(memory_id)
        if place is None:
            return [float("nan")] * len(self._days)
        return [float(day[place]) if place < len(day) else float("nan") for day in self._days]

    def events_of(self, memory: Memory) -> list[Event]:
        """What happened to a memory and to the messages it was drawn from, in order."""
        ids = [memory.memory_id, *memory.source_message_ids]
        events = [event for id_ in ids for event in self._events.get(id_, [])]
        return sorted(events, key=lambda event: (event.at, event.what))


def count(on: date, standings: Row) -> Counts:
    """The counts of a day. A shape counts as nothing else, and as none once it is archived."""
    columns = zip(standings["states"], standings["shapes"], standings["minimized"], strict=True)
    kinds = [
        (state == MemoryState.ARCHIVED, is_shape, minimized)
        for state, is_shape, minimized in columns
    ]
    return Counts(
        on,
        kept=kinds.count((False, False, False)),
        minimized=kinds.count((False, False, True)),
        archived=sum(archived and not is_shape for archived, is_shape, _ in kinds),
        shaped=sum(is_shape and not archived for archived, is_shape, _ in kinds),
    )


def strengths_at(standings: Row, policy: Policy, now: datetime) -> Sequence[float]:
    """The strength of each memory now: what time has left of its salience, times its weight."""
    columns = (
        standings[name]
        for name in ("memory_types", "categories", "saliences", "moved_at", "modifiers")
    )
    milliseconds = now.timestamp() * 1000
    return [
        modifier
        * salience_after(
            salience,
            max(0.0, milliseconds - moved_at) / MILLISECONDS_PER_DAY,
            policy.of(memory_type, category) if memory_type in policy.types else policy.figures,
        )
        for memory_type, category, salience, moved_at, modifier in zip(*columns, strict=True)
    ]
