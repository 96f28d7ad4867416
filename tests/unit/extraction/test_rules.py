"""The rule files: every example holds, every rule works, and a rule that cannot is refused."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import Misconfigured
from engine.extraction.attributes import ATTRIBUTES, is_single_valued
from engine.extraction.rule_based import ExtractionInput, extract
from engine.extraction.rules import (
    Example,
    Language,
    Rule,
    attributes_of,
    load_all_languages,
    load_language,
)
from engine.extraction.statements import Statement, read_sentence
from engine.models import MemoryType
from engine.text import language_of, sentences

LANGUAGES = load_all_languages()
RULES = [(language, rule) for language in LANGUAGES.values() for rule in language.rules]
EXAMPLES = [
    pytest.param(language, rule, example, id=f"{rule.entry.name} | {example.message}")
    for language, rule in RULES
    for example in rule.entry.examples
]
COUNTER_EXAMPLES = [
    pytest.param(language, rule, message, id=f"{rule.entry.name} | {message}")
    for language, rule in RULES
    for message in rule.entry.counter_examples
]

# How many ways to state each attribute the first rules knew: some may be added, none lost.
WAYS_TO_STATE = {
    9: ["plan"],
    6: ["employment", "job"],
    4: ["activity", "allergy", "diet", "employer", "home", "relationship", "{relation}"],
    3: ["habit", "hometown", "likes", "name", "possession"],
    2: [
        "achievement",
        "birthday",
        "children",
        "degree",
        "favourite {what}",
        "health",
        "language",
        "learning",
        "past_employer",
        "past_home",
        "siblings",
        "studies",
    ],
    1: [
        "age",
        "birth_year",
        "birthplace",
        "collects",
        "dislikes",
        "expecting",
        "fiance",
        "life",
        "member_of",
        "move",
        "nationality",
        "nickname",
        "past_activity",
        "past_job",
        "pet",
        "plays",
        "prefers",
        "religion",
        "school",
        "spouse",
        "teaches",
        "trait",
        "visited",
        "volunteers",
        "wants",
    ],
}


def semantic_contents(message: str) -> list[dict[str, object]]:
    """What the extractor makes of a message of Sam's: content and text of each semantic item."""
    said = ExtractionInput("m1", "Sam", "user", message, datetime(2026, 5, 2, tzinfo=UTC), "")
    return [
        {**item.content, "text": item.text}
        for item in extract(said).items
        if item.memory_type is MemoryType.SEMANTIC
    ]


def statements_of(rule: Rule, message: str, language: Language) -> Iterator[Statement]:
    """What one rule alone makes of a message of Sam's."""
    has_capitals = message != message.lower()
    for sentence in sentences(message):
        for statement in read_sentence(sentence, "Sam", language, has_capitals=has_capitals):
            if statement.rule == rule.entry.name:
                yield statement


@pytest.mark.parametrize(("language", "rule", "example"), EXAMPLES)
def test_an_example_is_extracted_as_the_rule_says(
    language: Language, rule: Rule, example: Example
) -> None:
    (content,) = [
        content
        for content in semantic_contents(example.message)
        if content["kind"] == rule.entry.kind and content["value"] == example.value
    ]

    assert language_of(example.message) == language.name
    assert content["text"] == example.sentence
    assert content["polarity"] is not example.negated
    assert content.get("applies_to") == example.applies_to
    if not rule.entry.tables:
        assert content["attribute"] == rule.entry.attribute
    elif language.name == "english":  # the attribute is a word of the message
        assert str(content["attribute"]) in example.sentence
    else:  # attributes are English in every language
        assert content["attribute"] in attributes_of(rule)


@pytest.mark.parametrize(("language", "rule", "example"), EXAMPLES)
def test_an_example_is_extracted_by_its_own_rule(
    language: Language, rule: Rule, example: Example
) -> None:
    by_rule = [
        (statement.value, statement.text, statement.polarity)
        for statement in statements_of(rule, example.message, language)
    ]

    assert (example.value, example.sentence, not example.negated) in by_rule


@pytest.mark.parametrize(("language", "rule", "message"), COUNTER_EXAMPLES)
def test_a_counter_example_gives_nothing_under_the_attribute(
    language: Language, rule: Rule, message: str
) -> None:
    attributes = [content["attribute"] for content in semantic_contents(message)]

    assert rule.entry.attribute not in attributes
    assert not list(statements_of(rule, message, language))


@pytest.mark.parametrize(("language", "rule"), RULES, ids=lambda part: getattr(part, "name", ""))
def test_every_rule_has_an_example_and_a_counter_example(language: Language, rule: Rule) -> None:
    assert rule.entry.examples, rule.entry.name
    assert rule.entry.counter_examples, rule.entry.name


@pytest.mark.parametrize(("language", "rule"), RULES, ids=lambda part: getattr(part, "name", ""))
def test_a_rule_that_can_deny_shows_it(language: Language, rule: Rule) -> None:
    can_deny = rule.entry.negates or "negation" in rule.pattern.groupindex

    assert can_deny == any(example.negated for example in rule.entry.examples), rule.entry.name


def test_no_way_to_state_something_is_lost() -> None:
    ways = Counter(rule.entry.attribute for rule in LANGUAGES["english"].rules)

    for number, attributes in WAYS_TO_STATE.items():
        assert {a: ways[a] for a in attributes if ways[a] < number} == {}


def test_every_attribute_is_stated_by_a_rule_and_listed_once() -> None:
    stated = {attribute for _, rule in RULES for attribute in attributes_of(rule)}
    listed = ATTRIBUTES.single_valued | ATTRIBUTES.many_valued

    assert not ATTRIBUTES.single_valued & ATTRIBUTES.many_valued
    assert listed <= stated
    assert all(attribute in listed or is_single_valued(attribute) for attribute in stated)


GRAMMAR = """
[grammar]
not_stated = []
quotation = '"[^"]*"'
expansions = []
clause_break = ', '
lead_in = 'ora '
verb_forms = []
[[grammar.first_person]]
pattern = 'mio'
in_value = "di {speaker}"
in_sentence = "suo"
[[grammar.subjects]]
pattern = 'io '
who = "{speaker}"
"""
RULE = """
[[rules]]
name = "casa"
kind = "fact"
attribute = "home"
pattern = 'abito a {WHERE}'
value = "place"
sentence = "{who} abita a {value}."
examples = [{ message = "io abito a Roma", value = "Roma", sentence = "Sam abita a Roma." }]
"""
WORDS = """
[fragments]
WHERE = '(?P<value>.+)'
"""


def write_language(folder: Path, text: str, name: str = "italian.toml") -> None:
    (folder / name).write_text(f'language = "italian"\n{text}')


def test_another_language_is_a_file(tmp_path: Path) -> None:
    write_language(tmp_path, GRAMMAR + RULE)
    write_language(tmp_path, WORDS, "italian_words.toml")
    (tmp_path / "notes.txt").write_text("not read")

    language = load_language("italian", tmp_path)

    assert language
    assert load_all_languages(tmp_path) == {"italian": language}
    assert load_language("english", tmp_path) is None
    (statement,) = read_sentence("ora io abito a Roma", "Sam", language)
    assert statement.text == "Sam abita a Roma."
    assert statement.rule == "casa"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('value = "place"', 'value = "plaza"', "unknown value 'plaza'; known are achievement"),
        ("{WHERE}", "{WHERE}{NOWHERE}", "{NOWHERE} is no list, table or fragment of italian"),
        ("abito a", "abito (a", "missing ), unterminated subpattern"),
        ("examples = [", "more_examples = [", "unknown field `more_examples`"),
        (RULE[RULE.index("examples") :], "examples = []", "length >= 1"),
        (RULE[RULE.index("examples") :], "", "missing required field `examples`"),
        ('value = "place"', 'split = "places"', "unknown split 'places'"),
        ('value = "place"', "", "neither value, split nor fixed_value"),
        ('value = "place"', 'value = "place"\ntables = { x = "Y" }', "unknown table 'Y'"),
        ('value = "place"', 'value = "place"\nnegates = true', "can be denied"),
        ('value = "place"', 'value = "place"\nmatch = "sentence"', "only a relation"),
        ('kind = "fact"', 'kind = "relation"', "clause or a sentence"),
        ('kind = "fact"', 'kind = "truth"', "Invalid enum value 'truth'"),
        ("{who} abita", "{whom} abita", "{whom} is no field of a sentence"),
        ('attribute = "home"', 'attribute = "house"', "unknown attribute 'house'"),
        ("(?P<value>.+)", ".+", "no group `value`"),
        ("(?P<value>.+)", "{WHERE}", "recursion"),
    ],
)
def test_a_rule_that_cannot_work_is_refused_with_file_and_name(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    text = GRAMMAR + WORDS + RULE
    assert old in text
    write_language(tmp_path, text.replace(old, new, 1))

    with pytest.raises(Misconfigured) as refusal:
        load_all_languages(tmp_path)

    assert str(refusal.value).startswith("italian.toml, rule 'casa': ")
    assert reason in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[grammar", "italian.toml: "),
        (GRAMMAR + WORDS + RULE + RULE, "italian.toml: two rules are called 'casa'"),
        (WORDS + RULE, "italian.toml: italian has 0 grammars, not one"),
        (GRAMMAR + WORDS + "[words]\nWHERE = []", "italian.toml: WHERE is defined twice."),
        (GRAMMAR + "[words]\nwhere = []", "italian.toml: 'where' must be capitals"),
        (GRAMMAR.replace("', '", "'('"), "italian.toml, grammar: missing )"),
        (
            GRAMMAR.replace("expansions = []", r"expansions = [['a', '\1']]"),
            "italian.toml, grammar: invalid group reference 1",
        ),
        (GRAMMAR.replace('"{speaker}"', '"{who}"'), "grammar: {who} in '{who}' stands for nothing"),
        (GRAMMAR.replace("di {speaker}", "{di}"), "grammar: {di} in '{di}' stands for nothing"),
        (GRAMMAR.replace("lead_in = 'ora '", ""), "missing required field `lead_in`"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    write_language(tmp_path, text)

    with pytest.raises(Misconfigured) as refusal:
        load_all_languages(tmp_path)

    assert reason in str(refusal.value)
