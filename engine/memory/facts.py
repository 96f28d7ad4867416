"""Facts over time: what was held to be so, from when until when. Values in, values out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from engine.bounds import indexed
from engine.extraction import OPPOSITES, fingerprint, is_single_valued
from engine.models import EARLIEST, Row
from engine.text import forms_by_stem

VALUES_KEPT = 4_096  # values whose words are kept: each is held against many others
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
    def arity(self) -> str:
        """How many values hold side by side: `single`, `many`, or those of a `plan`."""
        if self.attribute == "plan":
            return "plan"
        return "single" if is_single_valued(self.attribute) else "many"

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


def fact_key(content: dict[str, Any]) -> str | None:
    """What a statement is filed under: whom it is about, and in what respect."""
    subject, attribute, value = (content.get(it) for it in ("subject", "attribute", "value"))
    if not (isinstance(subject, str) and isinstance(attribute, str) and isinstance(value, str)):
        return None
    if not fingerprint(value):
        return None
    return indexed(f"{fingerprint(subject)}|{FILED_UNDER.get(attribute, attribute).casefold()}")


def as_fact(memory_id: str, content: dict[str, Any], since: datetime) -> Fact | None:
    if fact_key(content) is None:
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


def fact_properties(content: dict[str, Any]) -> Row:
    """What `settle_facts` works out by until when a fact holds; nulls when it states none."""
    fact = as_fact("", content, EARLIEST)
    if fact is None:
        return dict.fromkeys(("fact_value", "fact_stance", "fact_arity"))
    return {"fact_value": fact.said, "fact_stance": fact.stance, "fact_arity": fact.arity}


def timeline(facts: Iterable[Fact]) -> Timeline:
    """The same for the same facts, in whatever order they became known."""
    ordered = in_order(facts)
    closed_by = closers(ordered)
    ends = {fact.id: later.since if (later := closed_by[fact.id]) else None for fact in ordered}
    contradicts = [
        (later.id, fact.id) for fact in ordered if (later := closed_by[fact.id]) is not None
    ]
    extends = []
    saying: dict[str, list[Fact]] = {}  # by a word of their values, the facts so far
    for fact in ordered:
        words = named_in(fact.value)
        beside = [
            other for word in words if (other := beside_which(fact, saying.get(word, []), ends))
        ]
        if beside:
            extends.append((fact.id, in_order(beside)[-1].id))
        for word in words:
            saying.setdefault(word, []).append(fact)
    return Timeline(ends, contradicts, extends)


def closers(ordered: Sequence[Fact]) -> dict[str, Fact | None]:
    """For each fact, by its id, the first later one that denies it."""
    found: dict[str, Fact | None] = {}
    of_value: dict[str, list[Fact]] = {}  # later ones of the same value, the nearest last
    stated: list[Fact] = []  # of one value at a time: the nearest later ones of two values, last
    for fact in reversed(ordered):
        key = fact.said.split(" ", 1)[0] if fact.arity == "plan" else fact.said
        of_one_thing = reversed(of_value.setdefault(key, []))
        denying = [next((later for later in of_one_thing if later.denies(fact)), None)]
        denying += [next((later for later in reversed(stated) if later.denies(fact)), None)]
        found[fact.id] = min(
            (later for later in denying if later),
            key=lambda later: (later.since, later.id),
            default=None,
        )
        of_value[key].append(fact)
        if fact.stance and fact.arity == "single":
            others = [later for later in stated if later.said != fact.said]
            stated = [*others[-1:], fact]
    return found


def beside_which(
    fact: Fact, earlier: Sequence[Fact], ends: dict[str, datetime | None]
) -> Fact | None:
    """The newest earlier fact of the same thing that went on holding when this one was added."""
    for other in reversed(earlier):
        end = ends[other.id]
        still_held = end is None or end > fact.since
        if still_held and other.stance == fact.stance and other.said != fact.said:
            return other
    return None


@lru_cache(maxsize=VALUES_KEPT)
def named_in(value: str) -> frozenset[str]:
    """The words of a value that name something, whatever their form: tea is in green teas."""
    return frozenset(forms_by_stem(value))


def find_held_fact(fact: Fact, known: Iterable[Fact]) -> Fact | None:
    """The known fact that this one says again: the same, and not closed in between."""
    others = in_order(known)
    for other in reversed([it for it in others if (it.since, it.id) <= (fact.since, fact.id)]):
        if other.denies(fact):
            return None
        if other.repeats(fact):
            return other
    return None
