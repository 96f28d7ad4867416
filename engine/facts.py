"""Facts over time: what was held to be so, from when until when. Values in, values out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.extraction import OPPOSITES, fingerprint, is_single_valued
from engine.night.themes import by_stem

# The one of two opposites that both are filed under.
FILED_UNDER = {attribute: min(attribute, other) for attribute, other in OPPOSITES.items()}


@dataclass(frozen=True, slots=True)
class Fact:
    """Something held to be so since it was said."""

    id: str
    attribute: str
    value: str
    polarity: bool
    since: datetime

    @property
    def said(self) -> str:
        """The value, however it was spelled."""
        return fingerprint(self.value)

    @property
    def stance(self) -> bool:
        """Whether it says yes to the value; disliking tea says no to liking it."""
        return self.polarity == (FILED_UNDER.get(self.attribute, self.attribute) == self.attribute)

    def denies(self, other: "Fact") -> bool:
        """Whether both cannot be so at once."""
        if self.is_of(other):
            return self.stance != other.stance
        return is_single_valued(self.attribute) and self.stance and other.stance

    def is_of(self, other: "Fact") -> bool:
        """Whether both speak of one thing. A plan may be called off in fewer words than it had."""
        if self.attribute != "plan":
            return self.said == other.said
        short, long = sorted((self.said.split(), other.said.split()), key=len)
        return long[: len(short)] == short

    def repeats(self, other: "Fact") -> bool:
        return self.said == other.said and self.stance == other.stance


@dataclass(frozen=True, slots=True)
class Timeline:
    """How the facts about one thing followed each other."""

    ends: dict[str, datetime | None]
    contradicts: list[tuple[str, str]]  # the newer, the older it closed
    extends: list[tuple[str, str]]  # the newer, the older it stands beside


def fact_of(content: dict[str, Any]) -> str | None:
    """What a statement is filed under: whom it is about, and in what respect."""
    subject, attribute, value = (content.get(it) for it in ("subject", "attribute", "value"))
    if not (isinstance(subject, str) and isinstance(attribute, str) and isinstance(value, str)):
        return None
    if not fingerprint(value):
        return None
    return f"{fingerprint(subject)}|{FILED_UNDER.get(attribute, attribute).casefold()}"


def as_fact(memory_id: str, content: dict[str, Any], since: datetime) -> Fact | None:
    if fact_of(content) is None:
        return None
    return Fact(
        memory_id,
        content["attribute"],
        content["value"],
        content.get("polarity", True) is not False,
        since,
    )


def in_order(facts: Iterable[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda fact: (fact.since, fact.id))


def timeline(facts: Iterable[Fact]) -> Timeline:
    """The same for the same facts, in whatever order they became known."""
    ordered = in_order(facts)
    ends: dict[str, datetime | None] = {}
    contradicts, extends = [], []
    for place, fact in enumerate(ordered):
        closed_by = next((later for later in ordered[place + 1 :] if later.denies(fact)), None)
        ends[fact.id] = closed_by.since if closed_by else None
        if closed_by:
            contradicts.append((closed_by.id, fact.id))
        beside = beside_which(fact, ordered[:place], ends)
        if beside:
            extends.append((fact.id, beside.id))
    return Timeline(ends, contradicts, extends)


def beside_which(
    fact: Fact, earlier: Sequence[Fact], ends: dict[str, datetime | None]
) -> Fact | None:
    """The newest earlier fact of the same thing that went on holding when this one was added."""
    for other in reversed(earlier):
        end = ends[other.id]
        still_held = end is None or end > fact.since
        more_of_it = other.stance == fact.stance and other.said != fact.said
        if still_held and more_of_it and not named_in(fact).isdisjoint(named_in(other)):
            return other
    return None


def named_in(fact: Fact) -> frozenset[str]:
    """The words of a value that name something, whatever their form: tea is in green teas."""
    return frozenset(by_stem(fact.value))


def held_when_said(fact: Fact, known: Iterable[Fact]) -> Fact | None:
    """The known fact that this one says again: the same, and not closed in between."""
    others = in_order(known)
    for other in reversed([it for it in others if (it.since, it.id) <= (fact.since, fact.id)]):
        if other.denies(fact):
            return None
        if other.repeats(fact):
            return other
    return None
