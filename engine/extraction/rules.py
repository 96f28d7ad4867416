"""Rules by which statements are recognised: read from `languages/*.toml`, checked and compiled.

`languages/english.toml` says what the fields of a rule mean. A rule that cannot work (an unknown
function, list or attribute, a broken pattern, no example) is refused here, with its file and name.
"""

import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from engine.errors import Misconfigured
from engine.extraction.attributes import is_known
from engine.extraction.values import LOWER_CASE_FUNCTIONS, SPLIT_FUNCTIONS, VALUE_FUNCTIONS
from engine.extraction.vocabulary import (
    LANGUAGES,
    FirstPersonEntry,
    Grammar,
    SubjectEntry,
    Vocabulary,
    language_files,
    vocabulary,
)

SENTENCE_FIELDS = frozenset({"who", "value", "a_value", "food"})


class Example(Struct, frozen=True, forbid_unknown_fields=True):
    """A message of a speaker called Sam, and one statement that the rule makes of it."""

    message: str
    value: str
    sentence: str
    negated: bool = False
    applies_to: str | None = None


class RuleEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """A rule as the data file has it."""

    name: Annotated[str, Meta(min_length=1)]
    kind: Literal["fact", "preference", "plan", "relation", "instruction"]
    attribute: str
    pattern: str
    sentence: str
    examples: Annotated[list[Example], Meta(min_length=1)]
    negated: str = ""
    match: Literal["predicate", "clause", "sentence"] = "predicate"
    subject: Literal["anyone", "speaker"] = "anyone"
    value: str = ""
    split: str = ""
    fixed_value: str = ""
    tables: dict[str, str] = {}
    negates: bool = False
    before_doubt: bool = False
    counter_examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to state one thing, ready to be tried."""

    entry: RuleEntry
    pattern: re.Pattern[str]
    value_function: Callable[[str], str] | None
    lower_case_function: Callable[[str], str] | None  # tried where a message has no capitals
    split_function: Callable[[str], list[str]] | None
    tables: Mapping[str, Mapping[str, str]]  # by group

    def groups(self, match: re.Match[str]) -> dict[str, str]:
        """What the groups with a table matched, in the words that are kept."""
        return kept_words_of(match, self.tables)


@dataclass(frozen=True, slots=True)
class Subject:
    """Words at the start of a clause that say who it is about."""

    pattern: re.Pattern[str]
    who: str
    tables: Mapping[str, Mapping[str, str]]

    @property
    def is_speaker(self) -> bool:
        return self.who == "{speaker}"

    def name(self, match: re.Match[str], speaker: str) -> str:
        """Who the clause is about, by name: "Sam's sister Ana"."""
        groups = match.groupdict(default="") | kept_words_of(match, self.tables)
        return self.who.format(speaker=speaker, **groups)


@dataclass(frozen=True, slots=True)
class FirstPerson:
    """A word of the speaker for themself: what stands for it in a value, and in a sentence."""

    pattern: re.Pattern[str]
    in_value: str
    in_sentence: str


@dataclass(frozen=True, slots=True)
class Language:
    """Everything needed to read the sentences of one language."""

    name: str
    not_stated: tuple[re.Pattern[str], ...]
    quotation: re.Pattern[str]
    expansions: tuple[tuple[re.Pattern[str], str], ...]
    clause_break: re.Pattern[str]
    lead_in: re.Pattern[str]
    verb_forms: tuple[tuple[re.Pattern[str], str], ...]
    first_person: tuple[FirstPerson, ...]
    subjects: tuple[Subject, ...]
    relation_rules: tuple[Rule, ...]
    speaker_rules: tuple[Rule, ...]  # tried on what follows "I"
    other_rules: tuple[Rule, ...]  # tried on what follows "my sister"
    clause_rules: tuple[Rule, ...]
    instruction_rules: tuple[Rule, ...]  # tried at the start of each part of a sentence
    not_instructed: tuple[re.Pattern[str], ...]
    request: re.Pattern[str] | None  # where a question begins after a statement
    instruction_break: re.Pattern[str] | None
    applies_when: tuple[re.Pattern[str], ...]  # what instructions and preferences are for
    applies_in: tuple[re.Pattern[str], ...]  # the same, where it is less certain

    @property
    def rules_before_doubt(self) -> frozenset[str]:
        """The names of the rules that a doubt later in the sentence does not concern."""
        return frozenset(rule.entry.name for rule in self.rules if rule.entry.before_doubt)

    @property
    def rules(self) -> tuple[Rule, ...]:
        return (
            *self.speaker_rules,
            *self.clause_rules,
            *self.relation_rules,
            *self.instruction_rules,
        )


def kept_words_of(match: re.Match[str], tables: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """For each group with a table, the word kept for what it matched."""
    return {group: kept_word(match[group] or "", table) for group, table in tables.items()}


def kept_word(said: str, table: Mapping[str, str]) -> str:
    """The word kept for what was said: of the whole, or else of each of its words."""
    said = said.strip().lower()
    return table.get(said) or " ".join(table.get(word, word) for word in said.split())


def load_all_languages(folder: Path = LANGUAGES) -> dict[str, Language]:
    """Every language that a file of the folder declares, by name, in the order of the files."""
    names = dict.fromkeys(file.language for file in language_files(folder).values())
    return {name: language for name in names if (language := load_language(name, folder))}


@cache
def load_language(name: str, folder: Path = LANGUAGES) -> Language | None:
    """The language of that name; None when no file declares it.

    Read and compiled once in a process. A file that is wrong raises Misconfigured.
    """
    files = {
        file_name: file
        for file_name, file in language_files(folder).items()
        if file.language == name
    }
    if not files:
        return None
    words = vocabulary(name, folder)
    grammars = {file_name: file.grammar for file_name, file in files.items() if file.grammar}
    if len(grammars) != 1:
        raise Misconfigured(f"{', '.join(files)}: {name} has {len(grammars)} grammars, not one.")
    rules = tuple(
        load_rule(file_name, raw_rule, words)
        for file_name, file in files.items()
        for raw_rule in file.rules
    )
    names = [rule.entry.name for rule in rules]
    if twice := {rule_name for rule_name in names if names.count(rule_name) > 1}:
        raise Misconfigured(f"{', '.join(files)}: two rules are called {min(twice)!r}.")
    ((file_name, grammar),) = grammars.items()
    try:
        return compile_language(name, grammar, rules, words)
    except (ValueError, RecursionError, re.error) as error:
        raise Misconfigured(f"{file_name}, grammar: {error}.") from error


def compile_language(
    name: str, grammar: Grammar, rules: tuple[Rule, ...], words: Vocabulary
) -> Language:
    """The language with its patterns compiled and its rules sorted by where they are tried."""
    stated = [rule for rule in rules if rule.entry.kind not in ("relation", "instruction")]
    predicate_rules = [rule for rule in stated if rule.entry.match == "predicate"]
    return Language(
        name=name,
        not_stated=tuple(map(words.compile, grammar.not_stated)),
        quotation=words.compile(grammar.quotation),
        expansions=tuple(compile_replacement(*pair, words) for pair in grammar.expansions),
        clause_break=words.compile(grammar.clause_break),
        lead_in=words.compile(grammar.lead_in),
        verb_forms=tuple(compile_replacement(*pair, words) for pair in grammar.verb_forms),
        first_person=tuple(compile_first_person(entry, words) for entry in grammar.first_person),
        subjects=tuple(compile_subject(entry, words) for entry in grammar.subjects),
        relation_rules=tuple(rule for rule in rules if rule.entry.kind == "relation"),
        speaker_rules=tuple(predicate_rules),
        other_rules=tuple(rule for rule in predicate_rules if rule.entry.subject == "anyone"),
        clause_rules=tuple(rule for rule in stated if rule.entry.match == "clause"),
        instruction_rules=tuple(rule for rule in rules if rule.entry.kind == "instruction"),
        not_instructed=tuple(map(words.compile, grammar.not_instructed)),
        request=words.compile(grammar.request) if grammar.request else None,
        instruction_break=(
            words.compile(grammar.instruction_break) if grammar.instruction_break else None
        ),
        applies_when=tuple(map(words.compile, grammar.applies_when)),
        applies_in=tuple(map(words.compile, grammar.applies_in)),
    )


def compile_replacement(
    pattern: str, replacement: str, words: Vocabulary
) -> tuple[re.Pattern[str], str]:
    compiled = words.compile(pattern)
    compiled.sub(replacement, "")  # raises when the replacement names a group that is not there
    return compiled, replacement


def compile_first_person(entry: FirstPersonEntry, words: Vocabulary) -> FirstPerson:
    check_fields(entry.in_value, {"speaker"})
    return FirstPerson(words.compile(entry.pattern), entry.in_value, entry.in_sentence)


def compile_subject(entry: SubjectEntry, words: Vocabulary) -> Subject:
    pattern = words.compile(entry.pattern)
    check_fields(entry.who, {"speaker", *pattern.groupindex})
    tables = {group: look_up("table", name, words.tables) for group, name in entry.tables.items()}
    return Subject(pattern, entry.who, tables)


def check_fields(template: str, known: Iterable[str]) -> None:
    """Raise ValueError when a format string names something that will not be there."""
    if unknown := fields_of(template) - set(known):
        raise ValueError(f"{{{min(unknown)}}} in {template!r} stands for nothing")


def load_rule(file_name: str, raw_rule: dict[str, Any], words: Vocabulary) -> Rule:
    """One rule of a file, checked. Raises Misconfigured with the file, the rule and the reason."""
    try:
        rule = compile_rule(msgspec.convert(raw_rule, RuleEntry), words)
        if mistakes := list(rule_mistakes(rule)):
            raise ValueError("; ".join(mistakes))
    except (msgspec.ValidationError, ValueError, RecursionError, re.error) as error:
        name = raw_rule.get("name", "without a name")
        raise Misconfigured(f"{file_name}, rule {name!r}: {error}.") from error
    return rule


def compile_rule(entry: RuleEntry, words: Vocabulary) -> Rule:
    """The rule with its pattern compiled and its functions and tables looked up."""
    return Rule(
        entry=entry,
        pattern=words.compile(entry.pattern),
        value_function=look_up("value", entry.value, VALUE_FUNCTIONS) if entry.value else None,
        lower_case_function=LOWER_CASE_FUNCTIONS.get(entry.value),
        split_function=look_up("split", entry.split, SPLIT_FUNCTIONS) if entry.split else None,
        tables={
            group: look_up("table", name, words.tables) for group, name in entry.tables.items()
        },
    )


T = TypeVar("T")


def look_up(field: str, name: str, known: Mapping[str, T]) -> T:
    """What `name` stands for. An unknown one raises ValueError."""
    if name not in known:
        raise ValueError(f"unknown {field} {name!r}; known are {', '.join(sorted(known))}")
    return known[name]


def rule_mistakes(rule: Rule) -> Iterator[str]:
    """Why a rule that compiles still cannot work."""
    entry, groups = rule.entry, rule.pattern.groupindex
    if not (entry.fixed_value or entry.value or entry.split):
        yield "it has neither value, split nor fixed_value"
    if not entry.fixed_value and "value" not in groups:
        yield "its pattern has no group `value`"
    if (entry.negates or "negation" in groups) and not entry.negated:
        yield "it can be denied and has no sentence for that (negated)"
    if entry.kind == "relation" and entry.match == "predicate":
        yield "a relation is matched in a clause or a sentence (match)"
    if entry.kind == "instruction" and entry.match != "clause":
        yield "an instruction is matched in a clause (match)"
    if entry.kind != "relation" and entry.match == "sentence":
        yield "only a relation is matched in a sentence (match)"
    for field in set(entry.tables) - set(groups):
        yield f"its pattern has no group `{field}` for its table"
    fields = fields_of(entry.sentence) | fields_of(entry.negated) | fields_of(entry.attribute)
    for field in sorted(fields - SENTENCE_FIELDS - set(entry.tables)):
        yield f"{{{field}}} is no field of a sentence, nor a group with a table"
    for attribute in sorted(attributes_of(rule)):
        if not is_known(attribute):
            yield f"unknown attribute {attribute!r}; attributes.toml lists them"


def fields_of(template: str) -> set[str]:
    """The names in braces of a format string."""
    return {field for _, field, _, _ in string.Formatter().parse(template) if field is not None}


def attributes_of(rule: Rule) -> set[str]:
    """Every attribute a rule can store under: one for each word of a table that it names."""
    attributes = {rule.entry.attribute}
    for group, table in rule.tables.items():
        attributes = {
            attribute.replace(f"{{{group}}}", kept)
            for attribute in attributes
            for kept in table.values()
        }
    return attributes
