"""Standing instructions as facts: a newer one that contradicts an older one closes it."""

from datetime import UTC, datetime, timedelta

from engine.extraction import ExtractionInput, extract
from engine.memory.facts import Fact, as_fact, fact_key, timeline
from engine.models import MemoryType

START = datetime(2026, 5, 2, tzinfo=UTC)


def facts_said(*messages: str) -> list[Fact]:
    """The facts of what Sam says, one message a day; the id is the message."""
    facts = []
    for day, content in enumerate(messages):
        said_at = START + timedelta(days=day)
        said = ExtractionInput("m", "Sam", "user", content, said_at, "")
        facts += [
            fact
            for item in extract(said).items
            if item.memory_type is MemoryType.SEMANTIC
            and (fact := as_fact(content, item.content, said_at))
        ]
    return facts


def test_an_instruction_that_is_taken_back_ends() -> None:
    course = timeline(facts_said("Always show types in code.", "Stop showing types in code."))

    assert course.ends["Always show types in code."] == START + timedelta(days=1)
    assert course.contradicts == [("Stop showing types in code.", "Always show types in code.")]


def test_never_and_always_the_same_contradict_each_other() -> None:
    course = timeline(facts_said("Never suggest hostels.", "Always suggest hostels."))

    assert course.contradicts == [("Always suggest hostels.", "Never suggest hostels.")]


def test_instructions_about_different_things_hold_together() -> None:
    course = timeline(
        facts_said(
            "Always show types in code.", "Always cite sources.", "Never show types in emails."
        )
    )

    assert set(course.ends.values()) == {None}


def test_answers_are_in_one_language_at_a_time() -> None:
    french, german = facts_said("From now on answer in French.", "Please answer in German.")
    course = timeline([french, german])

    assert course.ends == {french.id: german.since, german.id: None}


def test_a_condition_that_stands_first_or_last_is_the_same_instruction() -> None:
    first, last = facts_said("In code, always show types.", "Always show types in code.")

    assert last.repeats(first)
    assert fact_key({"subject": "Sam", "attribute": last.attribute, "value": last.value}) == (
        "sam|instruction"
    )
