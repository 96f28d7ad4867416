"""Which fact a question asks for: whose, in what respect, and whether in the past.

The rules are data: the first pattern of `asked_facts.toml` that matches decides. They know English.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from engine.memory import fact_key
from engine.text import FIRST_PERSON, SECOND_PERSON, straighten_quotes, words

MAX_CHARACTERS = 300  # of a question; longer ones tell a story and ask something at the end


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    """A way to ask for an attribute."""

    attribute: str
    pattern: str
    examples: list[str]
    counter_examples: list[str]


class Rules(Struct, frozen=True, forbid_unknown_fields=True):
    """The file of rules."""

    past: str
    rules: list[Rule]


RULES = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=Rules)
PATTERNS = tuple((re.compile(rule.pattern, re.I), rule.attribute) for rule in RULES.rules)
PAST = re.compile(RULES.past, re.I)


@dataclass(frozen=True, slots=True)
class AskedFact:
    """A fact that a question asks for."""

    subject: str
    attribute: str
    past: bool  # what held before is asked for, and not only what holds now

    @property
    def key(self) -> str | None:
        """The key under which such facts are stored."""
        return fact_key({"subject": self.subject, "attribute": self.attribute, "value": "any"})


def asked_fact(
    question: str,
    *,
    people: Sequence[str],
    asked_by: str | None = None,
    persona_name: str | None = None,
) -> AskedFact | None:
    """The fact that a question asks for; None when it asks for no single fact of one person.

    `people` are those that the question names. When it names nobody, "I" means `asked_by` and "you"
    the persona.
    """
    plain = straighten_quotes(question)
    subject = asked_subject(plain, people, asked_by, persona_name)
    if subject is None or len(plain) > MAX_CHARACTERS:
        return None
    attribute = next((name for pattern, name in PATTERNS if pattern.search(plain)), None)
    return AskedFact(subject, attribute, bool(PAST.search(plain))) if attribute else None


def asked_subject(
    question: str, people: Sequence[str], asked_by: str | None, persona_name: str | None
) -> str | None:
    """Whom a question is about, if that is one person."""
    if people:
        return people[0] if len(people) == 1 else None
    lowered = {word.lower() for word in words(question)}
    if asked_by and FIRST_PERSON & lowered:
        return asked_by
    return persona_name if persona_name and SECOND_PERSON & lowered else None
