"""Facts, preferences, plans and relations that a speaker states about themself and those near them.

Rules over clauses, not a model: a wrong fact is worse than none, so a sentence that doubts, asks,
imagines or reports is passed over whole. The rules and the grammar of each language are data, see
`rules.py`; what a statement can be stored under is listed in `attributes.toml`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, takewhile
from typing import Any

from engine.extraction.instructions import as_asked
from engine.extraction.phrases import MAX_VALUE_CHARACTERS
from engine.extraction.rules import Language, Rule
from engine.text import straighten_quotes

MAX_PREDICATE_CHARACTERS = 2 * MAX_VALUE_CHARACTERS  # of a long clause, looked at by the rules
STANDING_KINDS = ("instruction", "preference")  # what bears on questions that do not mention it
ARTICLE = re.compile(r"(?:an?|the|their) ")


@dataclass(frozen=True, slots=True)
class Statement:
    """Something a speaker said is so, or is not so."""

    kind: str  # fact, preference, plan, relation, instruction
    subject: str
    attribute: str
    value: str
    text: str
    polarity: bool  # False when it was denied
    rule: str  # the name of the rule that recognised it
    applies_to: str | None = None  # what an instruction or a preference is for, if it says so

    def as_content(self) -> dict[str, Any]:
        content = {
            "kind": self.kind,
            "subject": self.subject,
            "attribute": self.attribute,
            "value": self.value,
            "polarity": self.polarity,
        }
        return content | {"applies_to": self.applies_to} if self.kind in STANDING_KINDS else content


def statements(sentences: Iterable[str], speaker: str, language: Language) -> list[Statement]:
    """What the speaker states in these sentences, each thing once, in the order it was said."""
    texts = list(sentences)
    has_capitals = any(letter.isupper() for text in texts for letter in text)
    stated = chain.from_iterable(
        read_sentence(text, speaker, language, has_capitals=has_capitals) for text in texts
    )
    unique = {
        (statement.subject, statement.attribute, statement.value.lower(), statement.polarity): (
            statement
        )
        for statement in stated
    }
    return list(unique.values())


def read_sentence(
    sentence: str, speaker: str, language: Language, *, has_capitals: bool = True
) -> Iterator[Statement]:
    """The statements of one sentence as each rule makes them: two rules may make the same one."""
    plain = without_request(straighten_quotes(sentence), language)
    if not plain:
        return
    yield from read_instructions(plain, speaker, language)
    is_stated = not is_doubted(plain, language)
    plain = replace_all(language.quotation.sub('"', plain), language.expansions)
    clauses = [without_lead_in(clause, language) for clause in language.clause_break.split(plain)]
    if not is_stated:
        yield from read_before_doubt(clauses, speaker, language)
        return

    for rule in language.relation_rules:
        for match in relation_matches(rule, plain, clauses):
            yield from make_statements(rule, match, speaker, speaker, language)
    for before, clause in pairwise(["", *clauses]):
        for statement in read_clause(clause, speaker, language, has_capitals=has_capitals):
            yield with_topic(statement, before, language)


def without_request(sentence: str, language: Language) -> str:
    """What a sentence says before it asks, as in "I live in Porto, can you ...?"; or nothing."""
    if not sentence.rstrip("\"' )").endswith("?"):
        return sentence
    request = language.request.search(sentence) if language.request else None
    return sentence[: request.start()] if request else ""


def is_doubted(text: str, language: Language) -> bool:
    """Whether a text doubts, imagines or reports, so that nothing in it is stated for certain."""
    return any(pattern.search(text) for pattern in language.not_stated)


def read_before_doubt(
    clauses: Sequence[str], speaker: str, language: Language
) -> Iterator[Statement]:
    """What the clauses before the first doubtful one state, by rules that may be read so."""
    certain = takewhile(lambda clause: not is_doubted(clause, language), clauses)
    for before, clause in pairwise(["", *certain]):
        for statement in read_clause(clause, speaker, language, has_capitals=True):
            if statement.rule in language.rules_before_doubt:
                yield with_topic(statement, before, language)


def read_instructions(sentence: str, speaker: str, language: Language) -> Iterator[Statement]:
    """The standing instructions of a sentence: of each part, what the first rule makes of it."""
    if any(pattern.search(sentence) for pattern in language.not_instructed):
        return
    plain = replace_all(sentence, language.expansions)
    parts = language.instruction_break.split(plain) if language.instruction_break else [plain]
    for part in (without_lead_in(part, language) for part in parts):
        matches = ((rule, rule.pattern.match(part)) for rule in language.instruction_rules)
        made = (
            list(make_instructions(rule, match, speaker, language))
            for rule, match in matches
            if match
        )
        yield from next(filter(None, made), [])


def make_instructions(
    rule: Rule, match: re.Match[str], speaker: str, language: Language
) -> Iterator[Statement]:
    """The instruction of a rule's match, with what it applies to, wherever that stands.

    A condition that stands first is moved behind the action: "in code show types" and "show types
    in code" have the same value.
    """
    before = match.string[: match.start("value")]
    topic = find_topic(before, language)
    condition = ""
    if topic and rule.entry.value == "instruction":
        condition = " " + as_asked(before[topic.start() : topic.end("topic")])
    for statement in make_statements(rule, match, speaker, speaker, language, condition=condition):
        topic = topic or find_topic(statement.value, language)
        yield replace(statement, applies_to=topic["topic"].strip() if topic else None)


def find_topic(instruction: str, language: Language) -> re.Match[str] | None:
    """Where an instruction says what it applies to."""
    patterns = (*language.applies_when, *language.applies_in)
    return next(filter(None, (pattern.search(instruction) for pattern in patterns)), None)


def with_topic(statement: Statement, before: str, language: Language) -> Statement:
    """The statement; a preference with what it applies to.

    Its own words say that, or the clause before it: "for long trips, I prefer trains".
    """
    if statement.kind not in STANDING_KINDS:
        return statement
    inside = (pattern.search(statement.value) for pattern in language.applies_when)
    in_front = (pattern.match(before) for pattern in (*language.applies_when, *language.applies_in))
    topic = next(filter(None, chain(inside, in_front)), None)
    return replace(statement, applies_to=topic["topic"].strip()) if topic else statement


def relation_matches(rule: Rule, sentence: str, clauses: Iterable[str]) -> Iterator[re.Match[str]]:
    """Where a relation is found: anywhere in the sentence, or at the start of its clauses."""
    if rule.entry.match == "sentence":
        return rule.pattern.finditer(sentence)
    return (match for clause in clauses if (match := rule.pattern.match(clause)))


def replace_all(text: str, replacements: Iterable[tuple[re.Pattern[str], str]]) -> str:
    for pattern, replacement in replacements:
        text = pattern.sub(replacement, text)
    return text


def without_lead_in(clause: str, language: Language) -> str:
    """The clause from its subject on: "well, last year I moved" is "I moved"."""
    clause = clause.strip()
    lead_in = language.lead_in.match(clause)
    return clause[lead_in.end() :] if lead_in else clause


def read_clause(
    clause: str, speaker: str, language: Language, *, has_capitals: bool
) -> Iterator[Statement]:
    """What one clause says of the speaker, or of "my sister"."""
    for subject in language.subjects:
        if not (start := subject.pattern.match(clause)):
            continue
        who = subject.name(start, speaker)
        predicate = as_after_i(clause[start.end() :], language)[:MAX_PREDICATE_CHARACTERS]
        for rule in language.speaker_rules if subject.is_speaker else language.other_rules:
            if match := rule.pattern.match(predicate):
                yield from make_statements(
                    rule, match, who, speaker, language, has_capitals=has_capitals
                )
        break
    for rule in language.clause_rules:
        if match := rule.pattern.match(clause):
            yield from make_statements(rule, match, speaker, speaker, language)


def as_after_i(predicate: str, language: Language) -> str:
    """The predicate with its verb as it follows "I", which is how the rules are written."""
    for third_person, first_person in language.verb_forms:
        if verb := third_person.match(predicate):
            return verb.expand(first_person) + predicate[verb.end() :]
    return predicate


def make_statements(
    rule: Rule,
    match: re.Match[str],
    who: str,
    speaker: str,
    language: Language,
    *,
    has_capitals: bool = True,
    condition: str = "",
) -> Iterator[Statement]:
    """One statement for each value that a rule's match gives, with a condition added to it."""
    entry, groups = rule.entry, rule.groups(match)
    is_negated = entry.negates or bool(match.groupdict().get("negation"))
    sentence = entry.negated if is_negated else entry.sentence
    for found in values_of(rule, match, has_capitals=has_capitals):
        raw_value = found + condition
        value = with_name(raw_value, speaker, language)
        # "Sam likes their garden", but "Sam's sister likes Sam's garden".
        spoken = with_pronouns(raw_value, language) if who == speaker else value
        yield Statement(
            kind=entry.kind,
            subject=who,
            attribute=entry.attribute.format(**groups),
            value=value,
            text=sentence.format(
                who=who,
                value=spoken,
                a_value=with_article(spoken),
                food=spoken.removeprefix("no "),
                **groups,
            ),
            polarity=not is_negated,
            rule=entry.name,
        )


def values_of(rule: Rule, match: re.Match[str], *, has_capitals: bool) -> Iterator[str]:
    """The values that a rule makes of what it matched; often none."""
    if rule.entry.fixed_value:
        yield rule.entry.fixed_value
        return
    raw = match["value"]
    if rule.split_function and (members := rule.split_function(raw)):
        yield from members
        return
    value = rule.value_function(raw) if rule.value_function else ""
    if not value and not has_capitals and rule.lower_case_function:
        value = rule.lower_case_function(raw)
    if value:
        yield value


def with_name(value: str, speaker: str, language: Language) -> str:
    """The value with the speaker's name for "my" and "me", as it is stored."""
    literal = speaker.replace("\\", r"\\")  # `sub` would read a backslash as a group
    return replace_all(
        value,
        ((word.pattern, word.in_value.format(speaker=literal)) for word in language.first_person),
    )


def with_pronouns(value: str, language: Language) -> str:
    """The value with "their" and "them" for "my" and "me", as a sentence about the speaker says."""
    return replace_all(value, ((word.pattern, word.in_sentence) for word in language.first_person))


def with_article(noun: str) -> str:
    """The noun with "a" or "an" before it, unless it has an article."""
    if ARTICLE.match(noun):
        return noun
    return f"an {noun}" if noun[:1] in "aeiouAEIOU" else f"a {noun}"
