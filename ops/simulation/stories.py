"""Five memories of a simulated life that say most about it, and their stories in words."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from math import isnan

from engine.memory import Memory, MemoryState
from engine.models import MemoryType
from ops.simulation.chronicle import PERSONA, Chronicle, Event, Happening

CHOSEN = 5
TELLING_LENGTH = (32, 84)  # characters of a text that is quoted
DECIMALS = 4  # of a strength


@dataclass(frozen=True, slots=True)
class Strand:
    """One memory of a life: what it says, why it was chosen, and how it went."""

    memory_id: str
    text: str
    reason: str
    strengths: list[float | None]  # at the end of each day; None before it was a memory
    events: list[Event]
    archived_on: date | None
    story: str

    def times(self, what: Happening) -> int:
        return [event.what for event in self.events].count(what)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may be chosen, with its events."""

    memory: Memory
    events: Sequence[Event]

    def times(self, what: Happening) -> int:
        return [event.what for event in self.events].count(what)

    @property
    def is_archived(self) -> bool:
        return self.memory.state is MemoryState.ARCHIVED

    @property
    def is_telling(self) -> bool:
        """Whether a person said it, not the persona, in a sentence that can be quoted."""
        shortest, longest = TELLING_LENGTH
        is_feeling = self.memory.memory_type is MemoryType.SOMATIC
        is_of_persona = self.memory.content.get("who") == PERSONA
        return (
            not is_feeling and not is_of_persona and shortest <= len(quoted(self.memory)) <= longest
        )


# Why a memory is chosen: what it must be, and which of several it is, the largest.
Choice = tuple[str, Callable[[Candidate], bool], Callable[[Candidate], float]]
CHOICES: Sequence[Choice] = (
    (
        "asked for again and again",
        lambda it: not it.is_archived and it.times(Happening.FORGOTTEN) == 0,
        lambda it: it.times(Happening.RECALLED),
    ),
    (
        "forgotten on request, then taken back",
        lambda it: it.times(Happening.TAKEN_BACK) > 0,
        lambda it: it.times(Happening.RECALLED),
    ),
    (
        "forgotten on request",
        lambda it: it.times(Happening.FORGOTTEN) > it.times(Happening.TAKEN_BACK),
        lambda it: -it.memory.said_at.timestamp(),
    ),
    (
        "true until it changed",
        lambda it: it.memory.valid_to is not None and it.times(Happening.FORGOTTEN) == 0,
        lambda it: it.times(Happening.RECALLED),
    ),
    (
        "never asked for",
        lambda it: it.is_archived and it.times(Happening.FORGOTTEN) == 0,
        lambda it: len(it.memory.text),
    ),
    (
        "asked for now and then",
        lambda it: 0 < it.times(Happening.RECALLED) <= 4,
        lambda it: it.times(Happening.RECALLED),
    ),
    ("kept", lambda it: True, lambda it: it.memory.importance),
)


def choose(chronicle: Chronicle) -> list[tuple[str, str]]:
    """The ids of five memories, each with why it was chosen; none two of one message."""
    candidates = [
        Candidate(memory, chronicle.events_of(memory))
        for _, memory in sorted(chronicle.memories.items())
        if not memory.distilled
    ]
    chosen: list[tuple[str, str]] = []
    used: set[str] = set()
    for reason, fits, size in (*CHOICES, *[CHOICES[-1]] * CHOSEN):
        fitting = [it for it in candidates if fits(it) and used.isdisjoint(sources(it.memory))]
        if len(chosen) < CHOSEN and fitting:
            best = max(fitting, key=lambda it: (it.is_telling, size(it), it.memory.memory_id))
            chosen.append((best.memory.memory_id, reason))
            used.update(sources(best.memory))
    return chosen


def sources(memory: Memory) -> Sequence[str]:
    return memory.source_message_ids or [memory.memory_id]


def strand(chronicle: Chronicle, memory_id: str, reason: str) -> Strand | None:
    """A memory as this life had it; None when it had no such memory."""
    memory = chronicle.memories.get(memory_id)
    if memory is None:
        return None
    strengths = [
        None if isnan(strength) else round(strength, DECIMALS)
        for strength in chronicle.strengths_of(memory_id)
    ]
    events = chronicle.events_of(memory)
    return Strand(
        memory_id=memory_id,
        text=quoted(memory),
        reason=reason,
        strengths=strengths,
        events=events,
        archived_on=memory.archived_at.date() if memory.archived_at else None,
        story=" ".join(tell(memory, events, strengths)),
    )


def quoted(memory: Memory) -> str:
    """The text of a memory, of an episode without its speaker."""
    _, colon, said = memory.text.partition(": ")
    is_episode = memory.memory_type is MemoryType.EPISODIC and colon
    return " ".join((said if is_episode else memory.text).split())


def tell(
    memory: Memory, events: Sequence[Event], strengths: Sequence[float | None]
) -> Iterable[str]:
    """The story of a memory, a sentence at a time."""
    days = {what: [event.at for event in events if event.what is what] for what in Happening}
    again = days[Happening.SAID_AGAIN]
    yield f"Said on {day(memory.said_at)}" + (f", and {times(len(again))} again." if again else ".")
    if recalled := days[Happening.RECALLED]:
        last = f", the last time on {day(recalled[-1])}" if len(recalled) > 1 else ""
        first = f" on {day(recalled[0])}" if len(recalled) == 1 else ""
        yield f"Recalled {times(len(recalled))}{first}{last}."
    else:
        yield "Nobody ever asked for it."
    for forgotten in days[Happening.FORGOTTEN]:
        yield f"Forgotten on request on {day(forgotten)}: only a fifth of its weight was left."
    for taken_back in days[Happening.TAKEN_BACK]:
        yield f"Taken back on {day(taken_back)}, as if it had never been forgotten."
    if memory.valid_to:
        yield f"No longer true since {day(memory.valid_to)}."
    if faded := days[Happening.FADED]:
        yield f"Left alone, it lost importance {times(len(faded))}."
    if memory.archived_at:
        yield f"Archived on {day(memory.archived_at)}; it can be brought back."
    elif strengths and strengths[-1] is not None:
        yield f"At the end its strength is {strengths[-1]:.2f}."


def day(at: datetime) -> str:
    return f"{at.day} {at:%B}"


def times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")
