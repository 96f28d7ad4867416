"""Facts over time: what was held to be true, from when until when. Pure functions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from engine.bounds import indexed
from engine.extraction import OPPOSITES, is_single_valued
from engine.models import EARLIEST, Row
from engine.text import fingerprint, forms_by_stem

STEM_CACHE_SIZE = 4_096  # values whose stems are cached: each is compared with many others
# Of two opposites, such as likes and dislikes, the one whose name is in the key of both.
KEY_ATTRIBUTE = {attribute: min(attribute, other) for attribute, other in OPPOSITES.items()}


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement of a value, held to be true since it was said."""

    id: str
    attribute: str
    value: str
    polarity: bool
    since: datetime

    @property
    def normalized_value(self) -> str:
        """The value without case, marks and extra spaces."""
        return fingerprint(self.value)

    @property
    def arity(self) -> str:
        """How many values can hold at once: `single` or `many`; `plan` for plans."""
        if self.attribute == "plan":
            return "plan"
        return "single" if is_single_valued(self.attribute) else "many"

    @property
    def stance(self) -> bool:
        """Whether it affirms the value; disliking tea denies liking it."""
        return self.polarity == (
            KEY_ATTRIBUTE.get(self.attribute, self.attribute) == self.attribute
        )

    def denies(self, other: "Fact") -> bool:
        """Whether both cannot be true at once."""
        if self.has_same_object(other):
            return self.stance != other.stance
        return is_single_valued(self.attribute) and self.stance and other.stance

    def has_same_object(self, other: "Fact") -> bool:
        """Whether both have the same value. For plans, one value may be the start of the other:
        a plan is often called off in fewer words than it was made."""
        if self.attribute != "plan":
            return self.normalized_value == other.normalized_value
        short, long = sorted(
            (self.normalized_value.split(), other.normalized_value.split()), key=len
        )
        return long[: len(short)] == short

    def repeats(self, other: "Fact") -> bool:
        """Whether both say the same."""
        return self.normalized_value == other.normalized_value and self.stance == other.stance


@dataclass(frozen=True, slots=True)
class Timeline:
    """How the facts under one key followed each other. Facts are named by their ids."""

    ends: dict[str, datetime | None]  # until when each held; None: it still holds
    contradicts: list[tuple[str, str]]  # the newer fact, the older one that it ended
    extends: list[tuple[str, str]]  # the newer fact, the older one that holds together with it


def fact_key(content: dict[str, Any]) -> str | None:
    """The key of the fact that an item states: its subject and attribute; None if it states none.

    Facts with one key can deny or extend each other.
    """
    subject, attribute, value = (content.get(name) for name in ("subject", "attribute", "value"))
    if not (isinstance(subject, str) and isinstance(attribute, str) and isinstance(value, str)):
        return None
    if not fingerprint(value):
        return None
    return indexed(f"{fingerprint(subject)}|{KEY_ATTRIBUTE.get(attribute, attribute).casefold()}")


def as_fact(memory_id: str, content: dict[str, Any], since: datetime) -> Fact | None:
    """The fact that the content of an item states; None if it states none."""
    if fact_key(content) is None:
        return None
    return Fact(
        memory_id,
        content["attribute"],
        content["value"],
        content.get("polarity", True) is not False,
        since,
    )


def by_time(facts: Iterable[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda fact: (fact.since, fact.id))


def fact_properties(content: dict[str, Any]) -> Row:
    """The properties from which `settle_facts` computes until when a fact holds.

    All are None when the content states no fact.
    """
    fact = as_fact("", content, EARLIEST)
    if fact is None:
        return dict.fromkeys(("fact_value", "fact_stance", "fact_arity"))
    return {
        "fact_value": fact.normalized_value,
        "fact_stance": fact.stance,
        "fact_arity": fact.arity,
    }


def timeline(facts: Iterable[Fact]) -> Timeline:
    """The timeline of facts with one key, in whatever order they are given."""
    ordered = by_time(facts)
    denied_by = first_denials(ordered)
    ends = {fact.id: later.since if (later := denied_by[fact.id]) else None for fact in ordered}
    contradicts = [
        (later.id, fact.id) for fact in ordered if (later := denied_by[fact.id]) is not None
    ]
    extends = []
    earlier_by_stem: dict[str, list[Fact]] = {}
    for fact in ordered:
        stems = value_stems(fact.value)
        extended = [
            earlier
            for stem in stems
            if (earlier := latest_extended(fact, earlier_by_stem.get(stem, []), ends))
        ]
        if extended:
            extends.append((fact.id, by_time(extended)[-1].id))
        for stem in stems:
            earlier_by_stem.setdefault(stem, []).append(fact)
    return Timeline(ends, contradicts, extends)


def first_denials(ordered: Sequence[Fact]) -> dict[str, Fact | None]:
    """For each fact, by its id, the first later one that denies it.

    Goes backwards in time and compares each fact only with later ones of the same value and, for
    attributes with one value at a time, with the nearest later ones of two other values.
    """
    denials: dict[str, Fact | None] = {}
    later_by_value: dict[str, list[Fact]] = {}  # the nearest last
    later_single: list[
        Fact
    ] = []  # the nearest later ones of two different values, the nearest last
    for fact in reversed(ordered):
        value = fact.normalized_value
        key = value.split(" ", 1)[0] if fact.arity == "plan" else value
        same_value = later_by_value.setdefault(key, [])
        nearest = [
            next((later for later in reversed(candidates) if later.denies(fact)), None)
            for candidates in (same_value, later_single)
        ]
        denials[fact.id] = min(
            (later for later in nearest if later),
            key=lambda later: (later.since, later.id),
            default=None,
        )
        same_value.append(fact)
        if fact.stance and fact.arity == "single":
            others = [later for later in later_single if later.normalized_value != value]
            later_single = [*others[-1:], fact]
    return denials


def latest_extended(
    fact: Fact, earlier: Sequence[Fact], ends: dict[str, datetime | None]
) -> Fact | None:
    """The newest earlier fact that still held when this one was added and has another value."""
    for other in reversed(earlier):
        end = ends[other.id]
        still_held = end is None or end > fact.since
        has_other_value = other.normalized_value != fact.normalized_value
        if still_held and other.stance == fact.stance and has_other_value:
            return other
    return None


@lru_cache(maxsize=STEM_CACHE_SIZE)
def value_stems(value: str) -> frozenset[str]:
    """The stems of the words in a value: `tea` is found in `green teas`."""
    return frozenset(forms_by_stem(value))


def find_held_fact(fact: Fact, known: Iterable[Fact]) -> Fact | None:
    """The known fact that this one repeats, if nothing denied it in between."""
    earlier = [
        other for other in by_time(known) if (other.since, other.id) <= (fact.since, fact.id)
    ]
    for other in reversed(earlier):
        if other.denies(fact):
            return None
        if other.repeats(fact):
            return other
    return None
