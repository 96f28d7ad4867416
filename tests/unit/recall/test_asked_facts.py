"""Which fact a question asks for."""

import pytest

from engine.extraction.attributes import is_single_valued
from engine.recall.asked_facts import RULES, AskedFact, asked_fact

EXAMPLES = [(rule.attribute, question) for rule in RULES.rules for question in rule.examples]
COUNTER_EXAMPLES = [
    (rule.attribute, question) for rule in RULES.rules for question in rule.counter_examples
]


@pytest.mark.parametrize(("attribute", "question"), EXAMPLES)
def test_a_question_asks_for_the_attribute_of_its_rule(attribute: str, question: str) -> None:
    asked = asked_fact(question, people=["Sam"])

    assert asked
    assert (asked.subject, asked.attribute) == ("Sam", attribute)
    assert asked.key == f"sam|{attribute}"


@pytest.mark.parametrize(("attribute", "question"), COUNTER_EXAMPLES)
def test_a_counter_example_asks_for_something_else(attribute: str, question: str) -> None:
    asked = asked_fact(question, people=["Sam"])

    assert asked is None or asked.attribute != attribute


def test_every_attribute_has_one_value_at_a_time() -> None:
    assert all(is_single_valued(rule.attribute) for rule in RULES.rules)


@pytest.mark.parametrize(
    ("question", "past"),
    [
        ("Where does Sam live?", False),
        ("Where did Sam live before?", True),
        ("Where did Sam use to live? Where has he previously lived?", True),
    ],
)
def test_a_question_about_the_past_is_marked(question: str, past: bool) -> None:
    asked = asked_fact(question, people=["Sam"])

    assert asked
    assert asked.past is past


def test_i_is_who_asks_and_you_the_persona() -> None:
    asked = [
        asked_fact(question, people=[], asked_by="Sam", persona_name="Ada")
        for question in ("Where do I live?", "Where do you live?", "Where does anybody live?")
    ]

    assert asked == [AskedFact("Sam", "home", False), AskedFact("Ada", "home", False), None]


def test_of_two_people_no_single_fact_is_asked() -> None:
    assert asked_fact("Where do Sam and Kim live?", people=["Sam", "Kim"]) is None
