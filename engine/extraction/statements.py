"""Facts, preferences, plans and relations that a speaker states about themself and those near them.

Rules over clauses, not a model: a wrong fact is worse than none, so a sentence that doubts, asks,
imagines or reports is passed over whole, and a value that points outside itself ("it", "your",
"that one") is no value. What a statement is filed under is one word, whatever verb it came in:

| one value at a time (a new one replaces the old) | many values side by side |
|---|---|
| name, age, birthday, birth_year, birthplace | hometown, past_home, nationality, language |
| home | past_job, past_employer, school, studies, degree |
| job, employer, employment | likes, dislikes, prefers, plays, habit, trait |
| diet, religion, relationship, children | allergy, health, pet, siblings, possession, learning |
| mother, father, wife, husband, partner, ... boss | sister, brother, friend, dog, cat, ... |
| favourite ... (see `is_single_valued`) | plan, wants, move, visited, activity, member_of, ... |
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from engine.extraction.rules import ADVERBS, NAME, OF_OTHERS, POSSESSED, RULES, Rule
from engine.extraction.values import MAX_LOOK, TIME, favoured, listed, place, place_or_lower
from engine.extraction.vocabulary import NOT_NAMES, RELATIONS
from engine.text import straighten_quotes, word_set

SINGLE_VALUED: frozenset[str] = word_set(
    "name age birthday birth_year birthplace home job employer employment diet religion "
    "relationship children mother father wife husband partner girlfriend boyfriend fiance spouse "
    "boss mother-in-law father-in-law stepmother stepfather"
) | {"best friend"}

# Stating one denies the other of the same value.
OPPOSITES: dict[str, str] = {"likes": "dislikes", "dislikes": "likes"}


def is_single_valued(attribute: str) -> bool:
    """Whether a new value of this replaces the old one."""
    return attribute in SINGLE_VALUED or attribute.startswith("favourite ")


@dataclass(frozen=True, slots=True)
class Statement:
    """Something a speaker said is so, or is not so."""

    kind: str  # fact, preference, plan, relation
    subject: str
    attribute: str
    value: str
    text: str
    polarity: bool = True

    def as_content(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "subject": self.subject,
            "attribute": self.attribute,
            "value": self.value,
            "polarity": self.polarity,
        }


# ── Which sentences are heard at all ─────────────────────────────────────────────────────────────

QUOTED = re.compile(r"\"[^\"]{0,400}\"?|(?<!\w)'[^']{3,400}'(?!\w)")
UNSURE = re.compile(
    r"\b(?:if|wish|wished|would|could|might|(?-i:may)|maybe|perhaps|probably|possibly|unless|"
    r"suppose|supposedly|imagine|imagined|whether|pretend|pretending|as though|kidding|joking|"
    r"hypothetically|let's say|almost|nearly|not sure|unsure|i doubt|i guess|i think|i feel like|"
    r"dreamt|dreamed|in my dream|should|must|apparently|sometimes i think|in theory|or something|"
    r"used to think|sort of|kind of)\b",
    re.I,
)
REPORTED = re.compile(
    r"\b(?:he|she|they|you|someone|somebody|people|everyone|everybody|nobody|(?!I\b|We\b|And\b|"
    r"But\b)[A-Z][\w'-]{0,30}|my [a-z-]{2,20}(?: [A-Z][\w'-]{0,30})?)(?: (?:always|once|just|"
    r"still|also|never|often|keeps?|kept))? (?:said|says|say|saying|told|tells|tell|thinks?|"
    r"thought|claims?|claimed|believes?|believed|asked|asks|joked?|jokes|reckons?|insists?|"
    r"insisted|wrote|writes|goes like|was like|is like|assumes?|assumed|suggests?|suggested)\b"
)

CONTRACTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), expanded)
    for pattern, expanded in (
        (r"\b[Ii]'?m\b(?!')", "I am"),
        (r"\b[Ii]'?ve\b", "I have"),
        (r"\bI'll\b|\bi'll\b", "I will"),
        (r"\b[Ii]'d\b", "I would"),
        (r"\b([Ww]e)'re\b", r"\1 are"),
        (r"\b([Ww]e)'ve\b", r"\1 have"),
        (r"\b([Ww]e)'ll\b", r"\1 will"),
        (r"\b([Ww]e)'d\b", r"\1 would"),
        (r"\b[Cc]an'?t\b|\bcan not\b", "cannot"),
        (r"\b[Ww]on'?t\b", "will not"),
        (r"\b([Dd]o|[Dd]oes|[Dd]id)n'?t\b", r"\1 not"),
        (r"\b(is|are|was|were|have|has|had)n't\b", r"\1 not"),
        (r"\bain't\b", "am not"),
        (r"\bgonna\b", "going to"),
        (r"\bwanna\b", "want to"),
        (r"\bi\b(?!')", "I"),
    )
)

# Clauses that can stand alone: each begins with the speaker, or with somebody of theirs.
CLAUSE = re.compile(
    r"\s*[;:]\s+|\s+-+\s+|\s*[()]\s*"
    r"|,?\s+(?:and|but|so|because|plus|also|since|though|although)\s+(?=(?:I|we|We|my|My)\b)"
    r"|,\s+(?=(?:I|we|We|my|My)\b)"
)
LEAD = re.compile(
    r"(?:(?:oh|ah|well|so|and|but|yeah|yep|yes|no|nope|nah|actually|honestly|hey|hi|hello|wow|ok|"
    r"okay|also|anyway|anyways|btw|by the way|you know|to be honest|tbh|personally|in fact|plus|"
    r"luckily|unfortunately|sadly|finally|fyi|haha|lol|hmm|because|as for me|for me|as you know|"
    r"since you asked|(?:as )?I (?:already )?(?:told|mentioned to|"
    r"reminded) you(?: before)?(?: that)?|(?:just so )?you know(?: that)?|the (?:thing|truth|"
    r"fact) is(?: that)?|turns out|funnily enough|as an? (?:kid|child|teenager|student)|"
    r"when I was (?:an? (?:kid|child|teenager)|young|little|younger)|"
    rf"basically|obviously|clearly|of course|{TIME})[,.!]*\s+|"
    rf"(?-i:[A-Z][\w'-]{{1,20}}),\s+){{1,4}}",
    re.I,
)
KIN = "|".join(sorted(map(re.escape, RELATIONS), key=len, reverse=True))
KIND_OF_KIN = (
    r"(?:(?:older|younger|elder|oldest|youngest|eldest|little|big|baby|twin|dear|good|old|new|"
    r"late|lovely|beautiful|wonderful|amazing|beloved|sweet|dear|childhood|close|furry|own|one|"
    r"other|half|college|school|high school|uni|work|first|second|third|adorable|cute) ){0,2}"
)
SELF = re.compile(rf"(?:I|[Ww]e)(?:,| both)? {ADVERBS}(?=\w)")
MY_KIN = re.compile(rf"[Mm]y {KIND_OF_KIN}(?P<kin>{KIN})(?P<name> {NAME})? {ADVERBS}(?=[a-z])")

MY = re.compile(r"\b(?:my|our)\b", re.I)
HAS_ARTICLE = re.compile(r"(?:an?|the|their) ")
ME = re.compile(r"\b(?:me|us)\b")


CALL_ME = re.compile(
    rf"(?:[Pp]lease |[Yy]ou can )?(?:[Jj]ust )?[Cc]all me (?P<value>{NAME})(?=\s*(?:$|[,.;!]))"
)
FAVOURITE = re.compile(
    r"[Mm]y (?:all[- ]time |absolute |personal )?favou?rite (?P<what>(?!one\b|thing\b|part\b|"
    r"things\b|moment)[a-z][a-z -]{1,24}?)(?: of all time| ever)? (?:is|has to be|has always been|"
    r"are) (?P<value>.+)"
)
FAVOURITE_FIRST = re.compile(
    r"(?P<value>[A-Z][\w' -]{1,40}?) (?:is|are) my (?:all[- ]time |"
    r"absolute )?favou?rite (?P<what>(?!one\b|thing\b|part\b)[a-z][a-z -]{1,24}?)(?=\s*(?:$|"
    r"[,.;!?]| (?:of all|ever|in the|because|and)\b))"
)
BRITISH = {"color": "colour", "flavor": "flavour", "film": "movie", "neighbor": "neighbour"}

# "My sister Ana", anywhere in a sentence: whatever is said of her, that much is so.
NAMED_KIN = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur) {KIND_OF_KIN}(?P<kin>{KIN})(?:,? (?:named|called|whose name is)|"
    rf"'s name is| is (?:named|called))? (?P<name>{NAME})"
)
PLURALS = {
    "kids": "child",
    "children": "child",
    **{
        f"{kin}s": kin
        for kin in ("son", "daughter", "sister", "brother", "dog", "cat", "friend", "cousin")
    },
}
NAMED_MANY = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur) (?:\w+ )?(?P<many>{'|'.join(PLURALS)}),? (?:named |called )?"
    r"(?P<names>[A-Z][\w-]{1,20}(?:, [A-Z][\w-]{1,20}){0,5},? and [A-Z][\w-]{1,20})"
)
HAVE_KIN = re.compile(
    rf"\b(?:I|[Ww]e) (?:have|have got|adopted|got) an? {KIND_OF_KIN}(?:[a-z]+ )?(?P<kin>{KIN}),? "
    rf"(?:named|called|whose name is) (?P<name>{NAME})"
)
IS_MY_KIN = re.compile(
    rf"(?P<name>{NAME})(?: is|'s) (?:my|our) {KIND_OF_KIN}(?P<kin>{KIN})(?=\s*(?:$|"
    r"[,.;!?)]| (?:and|who|from|but|since|now|too)\b))"
)
MARRIED_TO = re.compile(rf"\bI am (?:happily )?(?P<how>married|engaged) to (?P<name>{NAME})")


# ── Reading ──────────────────────────────────────────────────────────────────────────────────────


def statements(sentences: Iterable[str], speaker: str) -> list[Statement]:
    """What the speaker states in these sentences, each thing once, in the order it was said."""
    text = list(sentences)
    lower = not any(letter.isupper() for sentence in text for letter in sentence)
    found = chain.from_iterable(read(sentence, speaker, lower=lower) for sentence in text)
    return list({(s.subject, s.attribute, s.value.lower(), s.polarity): s for s in found}.values())


def read(sentence: str, speaker: str, *, lower: bool = False) -> Iterator[Statement]:
    plain = straighten_quotes(sentence)
    if plain.rstrip("\"' )").endswith("?") or UNSURE.search(plain) or REPORTED.search(plain):
        return
    plain = expand(QUOTED.sub('"', plain))
    yield from relations(plain, speaker)
    for clause in CLAUSE.split(plain):
        yield from own(without_lead(clause), speaker, lower=lower)


def without_lead(clause: str) -> str:
    """The clause from its subject on: "well, last year I moved" is "I moved"."""
    clause = clause.strip()
    lead = LEAD.match(clause)
    return clause[lead.end() :] if lead else clause


def expand(text: str) -> str:
    for pattern, expanded in CONTRACTIONS:
        text = pattern.sub(expanded, text)
    return text


def own(clause: str, speaker: str, *, lower: bool) -> Iterator[Statement]:
    """What one clause says of the speaker, or of "my sister"."""
    if subject := SELF.match(clause):
        rest = as_i_would(clause[subject.end() :])
        yield from by_rules(rest, speaker, speaker, RULES, lower=lower)
    elif kin := MY_KIN.match(clause):
        who = f"{speaker}'s {RELATIONS[kin['kin'].lower()]}{kin['name'] or ''}"
        rest = as_i_would(clause[kin.end() :])
        yield from by_rules(rest, who, speaker, OF_OTHERS, lower=lower)
    yield from possessed(clause, speaker)


THIRD_PERSON = re.compile(
    r"^(?:(?P<be>is|are|were)|(?P<have>has)|(?P<do>does)|(?P<verb>[a-z]{3,12}[^s\W])s)\b"
)


def as_i_would(predicate: str) -> str:
    """The predicate with its verb as it follows "I", which is how the rules are written."""
    verb = THIRD_PERSON.match(predicate)
    if not verb:
        return predicate
    if verb["be"]:
        first = "was" if verb["be"] == "were" else "am"
    elif verb["have"] or verb["do"]:
        first = "have" if verb["have"] else "do"
    else:
        first = verb["verb"]
    return first + predicate[verb.end() :]


def by_rules(
    rest: str, who: str, speaker: str, rules: Iterable[Rule], *, lower: bool
) -> Iterator[Statement]:
    window = rest[: 2 * MAX_LOOK]
    for known in rules:
        found = known.pattern.match(window)
        if not found:
            continue
        denied = bool(found.groupdict().get("no")) or not known.holds
        for value in values(known, found, lower=lower):
            yield stated(known, who, speaker, value, denied=denied)


def values(known: Rule, found: re.Match[str], *, lower: bool) -> Iterator[str]:
    if known.fixed:
        yield known.fixed
        return
    raw = found["value"]
    if known.lists and (several := listed(raw)):
        yield from several
    elif (value := known.shape(raw)) or (
        lower and known.shape is place and (value := place_or_lower(raw))
    ):
        yield value


def stated(known: Rule, who: str, speaker: str, value: str, *, denied: bool) -> Statement:
    sentence = known.denies if denied else known.says
    resolved_value = resolved(value, f"{speaker}'s", speaker)
    return Statement(
        kind=known.kind,
        subject=who,
        attribute=known.attribute,
        value=resolved_value,
        # "Sam likes their garden", but "Sam's sister likes Sam's garden".
        text=worded(sentence, who, value if who == speaker else resolved_value),
        polarity=not denied,
    )


def resolved(value: str, my: str, me: str) -> str:
    return ME.sub(lambda _: me, MY.sub(lambda _: my, value))


def worded(sentence: str, who: str, value: str) -> str:
    said = resolved(value, "their", "them")
    return sentence.format(
        who=who, value=said, a_value=with_article(said), food=said.removeprefix("no ")
    )


def with_article(noun: str) -> str:
    if HAS_ARTICLE.match(noun):
        return noun
    return f"an {noun}" if noun[:1] in "aeiouAEIOU" else f"a {noun}"


def possessed(clause: str, speaker: str) -> Iterator[Statement]:
    for attribute, pattern, shape, says in POSSESSED:
        if (found := pattern.match(clause)) and (value := shape(found["value"])):
            yield Statement("fact", speaker, attribute, value, worded(says, speaker, value))
    if (found := CALL_ME.match(clause)) and (value := place(found["value"])):
        yield Statement("fact", speaker, "name", value, f"{speaker}'s name is {value}.")
    found = FAVOURITE.match(clause) or FAVOURITE_FIRST.match(clause)
    if found and (value := favoured(found["value"])):
        what = " ".join(BRITISH.get(word, word) for word in found["what"].strip().split())
        yield Statement(
            "preference",
            speaker,
            f"favourite {what}",
            resolved(value, f"{speaker}'s", speaker),
            f"{speaker}'s favourite {what} is {resolved(value, 'their', 'them')}.",
        )


def relations(sentence: str, speaker: str) -> Iterator[Statement]:
    for found in chain(NAMED_KIN.finditer(sentence), HAVE_KIN.finditer(sentence)):
        yield from related(found["kin"], found["name"], speaker)
    for found in NAMED_MANY.finditer(sentence):
        for name in re.findall(r"[A-Z][\w-]{1,20}", found["names"]):
            yield from related(PLURALS[found["many"]], name, speaker)
    for clause in CLAUSE.split(sentence):
        if found_here := IS_MY_KIN.match(without_lead(clause)):
            yield from related(found_here["kin"], found_here["name"], speaker)
    if wed := MARRIED_TO.search(sentence):
        yield from related("spouse" if wed["how"] == "married" else "fiance", wed["name"], speaker)


def related(kin: str, name: str, speaker: str) -> Iterator[Statement]:
    words = re.sub(r"'s?$", "", name).split()
    first = [word for word in words if word not in NOT_NAMES and not word.endswith("'s")]
    if not first or words[0] not in first:
        return
    attribute, value = RELATIONS[kin.lower()], " ".join(first)
    yield Statement("relation", speaker, attribute, value, f"{value} is {speaker}'s {attribute}.")
