"""Functions that make a value of the words a rule's pattern matched, or reject them.

Each takes the text from the value on and returns the value; an empty string means that there is
none. None is the usual answer: words that point outside themselves ("it", "your", "that one"), that
are too many, or that were cut off in the middle of a thought, are no value. Rules choose them by
name: see VALUE_FUNCTIONS and SPLIT_FUNCTIONS at the end. They know English.
"""

import re
from collections.abc import Callable

from engine.extraction.instructions import instruction, preferred, stopped_instruction
from engine.extraction.phrases import (
    ENGLISH,
    FUTURE,
    MAX_PLAN_WORDS,
    MAX_VALUE_CHARACTERS,
    MAX_VALUE_WORDS,
    POINTS_OUTSIDE,
    TRAILING_TIME,
    TRAILING_WORD,
    first_phrase,
    first_phrase_before,
    stands_alone,
    without_trailing_words,
)

NOT_NAMES = ENGLISH.words("MONTHS", "NATIONALITIES", "LANGUAGES", "NOT_NAMES")
NOT_PLACES = ENGLISH.words("NOT_PLACES")
COMPANY_WORDS = ENGLISH.words("COMPANY_WORDS")
NOT_EMPLOYERS = ENGLISH.words("NOT_EMPLOYERS")
NOT_LIKINGS = ENGLISH.words("NOT_LIKINGS")


# ── Things of any kind ───────────────────────────────────────────────────────────────────────────

# "The" before what everybody knows: other things with "the" are known to the speaker alone.
SHARED_THING = re.compile(
    r"the (?:[A-Z]|colou?r \w|(?:smell|sound|taste) of \w|(?:beach|sea|ocean|outdoors|mountains?|"
    r"rain|snow|cold|heat|countryside|city|summer|winter|sun|sunshine|woods|forest|gym|theatre|"
    r"theater|opera|ballet|cinema|dark|dentist|guitar|piano|violin|cello|flute|drums|saxophone|"
    r"trumpet|harp|ukulele|accordion|clarinet|banjo)(?:$| (?:and|at|by|in|on|with)\b))"
)


def thing(text: str) -> str:
    """Something with a name of its own."""
    value = without_trailing_words(first_phrase(text).removeprefix("also "))
    if value.startswith("the ") and not SHARED_THING.match(value):
        return ""
    return value


def as_written(text: str) -> str:
    return text.strip()


def lower_case(text: str) -> str:
    return text.strip().lower()


def self_contained(text: str) -> str:
    return "" if POINTS_OUTSIDE.search(text) else text


def counted(text: str) -> str:
    """A number of things: "Two dogs" is "two dogs"."""
    return lower_case(self_contained(text))


def food_not_eaten(text: str) -> str:
    return "no " + text.removeprefix("any ")


def injury(text: str) -> str:
    return "injured " + text


# ── Places, people, organisations ────────────────────────────────────────────────────────────────

PLACE = ENGLISH.compile(
    r"(?:the )?{CAPITAL}[\w'.-]{1,30}(?: (?:(?:de|da|do|del|la|le|los|of|upon|on|am|"
    r"the) )?{CAPITAL}[\w'.-]{1,30}){0,3}"
)
LOWER_CASE_PLACE = re.compile(
    r"(?!(?:a|an|the|my|our|this|that|another|with|here|there|town|with|yesterday|today|tomorrow|"
    r"last|next|together|peace|fear|hope|two|three|new|old|different|"
    r"one)\b)[a-z]{3,20}(?: [a-z]{3,20})?$"
)


def place(text: str) -> str:
    """A name with capitals that is no company, month or nationality."""
    match = PLACE.match(text[:MAX_VALUE_CHARACTERS])
    if not match:
        return ""
    name = match[0].rstrip(".'-")
    first, last = name.split()[0], name.split()[-1]
    if first in NOT_NAMES or first in NOT_PLACES or last in COMPANY_WORDS or name.endswith("'s"):
        return ""
    return name


def lower_case_place(text: str) -> str:
    """A place in a message without capitals, where it cannot have one either."""
    value = TRAILING_WORD.sub("", TRAILING_TIME.sub("", first_phrase(text)))
    return value if LOWER_CASE_PLACE.fullmatch(value) and not POINTS_OUTSIDE.search(value) else ""


NAME_ENDING = re.compile(r"'s?$")
CAPITALISED_WORD = re.compile(r"[A-Z][\w-]{1,20}")


def person_name(text: str) -> str:
    """The name without words that are none: "Ana Monday" is "Ana"."""
    words = NAME_ENDING.sub("", text).split()
    name = [word for word in words if word not in NOT_NAMES and not word.endswith("'s")]
    return " ".join(name) if name and words[0] in name else ""


def person_names(text: str) -> list[str]:
    """The names in "Ana, Ben and Max"."""
    return [name for word in CAPITALISED_WORD.findall(text) if (name := person_name(word))]


AFTER_EMPLOYER = re.compile(r"\s(?:as|in|on|since|last|this|next|from|full|part|and)\b")
WITH_ARTICLE = re.compile(r"an? ")
PUBLIC_BODY = re.compile(
    r"the (?:\w+ )?(?:council|hospital|government|university|police|army|navy|air force|"
    r"fire department|library|museum|post office|railway|airport|state|city)"
)


def organisation(text: str) -> str:
    """A named employer, a public body, or "a hospital"."""
    value = first_phrase_before(text, AFTER_EMPLOYER)
    if not stands_alone(value, max_words=5) or value.split()[0].lower() in NOT_EMPLOYERS:
        return ""
    has_name = any(word[0].isupper() for word in value.split())
    return value if has_name or WITH_ARTICLE.match(value) or PUBLIC_BODY.fullmatch(value) else ""


AFTER_INSTITUTION = re.compile(r"\s(?:on|every|for|and|in|last|this|to|as)\b")


def institution(text: str) -> str:
    """Where somebody helps out: "the animal shelter"."""
    value = first_phrase_before(text, AFTER_INSTITUTION)
    return value if stands_alone(value, max_words=6) else ""


ASSOCIATION = re.compile(
    r"\b(?:club|group|team|band|choir|orchestra|gym|league|class|society|association|community|"
    r"union|church|network|troupe|squad|guild|forum|board|committee|organi[sz]ation|non-?profit|"
    r"cooperative|co-op)$"
)


def association(text: str) -> str:
    """What one can be a member of: "a choir"."""
    value = institution(text)
    return value if ASSOCIATION.search(value) else ""


# ── Work, study, possessions ─────────────────────────────────────────────────────────────────────

ARTICLE_AT_START = re.compile(r"^(?:an?|the|my|our) ", re.I)
AFTER_JOB = re.compile(r"\s(?:at|for|in|with|and|by|on|from|of|to|who|here|there|since)\b")
LISTED_JOB = ENGLISH.compile(r"\b{JOBS}$", re.I)
# "A good driver" is a skill, not a living.
PRAISE = re.compile(
    r"\b(?:good|great|bad|very|top|terrible|decent|better|best|big|huge|slow|fast|careful|"
    r"excellent|poor|lousy|real|total|natural|born|former|future|aspiring|wannabe|fellow|amateur|"
    r"hopeless)\b"
)


def job(text: str) -> str:
    """An occupation without its article, of the list or not."""
    value = ARTICLE_AT_START.sub("", TRAILING_TIME.sub("", first_phrase_before(text, AFTER_JOB)))
    return value if stands_alone(value, max_words=4) else ""


def listed_job(text: str) -> str:
    """An occupation of the list, where anything else could follow the verb too."""
    value = job(text).removeprefix("new ")
    return value if LISTED_JOB.search(value) and not PRAISE.search(value) else ""


AFTER_FIELD = re.compile(r"\s(?:at|in|for|to|and|with|since|from|on|as|by)\b")
NOT_A_FIELD = re.compile(r"(?:at|in|for|abroad|hard|to|with|all|an?|the|my|our)\b", re.I)


def field_of_study(text: str) -> str:
    value = first_phrase_before(text, AFTER_FIELD)
    return value if stands_alone(value, max_words=4) and not NOT_A_FIELD.match(value) else ""


# What one can "have a new ..." of without owning anything.
ABSTRACT = re.compile(
    r"\b(?:lot|few|question|feeling|idea|surprise|time|plan|day|chance|schedule|pic|picture|photo|"
    r"shot|clip|video|news|text|call|message|way|place|job|role|position|look|appreciation|"
    r"perspective|respect|start|life|skill|skills|project|goal|challenge|experience|friend|"
    r"friends|neighbou?r|boss|recipe|record|level|step|opportunity|understanding|hobby|love|"
    r"passion|interest|insight|update|thing|one|dream|routine|phase|chapter|family|ticket|drink|"
    r"coffee|meal|snack|sense|season|game plan|drive|energy|motivation|baby|kid|child|girlfriend|"
    r"boyfriend|partner|haircut|tattoo|addition)\b"
)
GIFT = re.compile(r"\sfor (?:my|our|a|his|her|him|the)\b")
AFTER_POSSESSION = re.compile(r"\s(?:from|for|in|on|at|with|to|of|and|last|this|yesterday|today)\b")
MY_AT_START = re.compile(r"^my ")


def possession(text: str) -> str:
    """Something the speaker bought or has, and did not buy for somebody else."""
    value = first_phrase_before(text, AFTER_POSSESSION)
    if GIFT.search(text) or " " not in value or not stands_alone(value, max_words=5):
        return ""
    return "" if ABSTRACT.search(value) else MY_AT_START.sub("a ", value)


# "Passed away" and "ran an errand" are no achievements.
ACHIEVEMENT = re.compile(
    r"(?!passed|ran)|passed .*\b(?:test|exams?|finals|course|class)\b|ran .*\b(?:marathon|10k|5k|"
    r"race)\b"
)


def achievement(text: str) -> str:
    value = thing(text)
    return value if ACHIEVEMENT.match(value) else ""


# ── Likings ──────────────────────────────────────────────────────────────────────────────────────

# What people say they love out of kindness, or of something in front of them.
REACTION = re.compile(
    r"(?:how|what|when|the way|the idea|hearing|seeing|knowing|chatting|talking|sharing|helping|"
    r"my job|being able|getting to|see|hear|know|think|say|be|have|add|use|an?|most|many|every|"
    r"some|two|three|any|no|watch(?:ing)? (?:my|our)|where|giving|showing|imagining|looking|"
    r"working|the|and|for|in|on|with|too)\b"
)


def liked_thing(text: str) -> str:
    """Something one can like for longer than a moment."""
    value = thing(text)
    if SHARED_THING.match(value):
        return value
    return "" if value in NOT_LIKINGS or REACTION.match(value.removeprefix("to ")) else value


AFTER_ACTIVITY = re.compile(r"\s(?:to|for|in order|with|at|on)\b")


def activity(text: str) -> str:
    return liked_thing(first_phrase_before(text, AFTER_ACTIVITY))


NOT_A_FAVOURITE = re.compile(r"(?:when|to|being|getting|definitely when|of)\b")


def favourite(text: str) -> str:
    value = first_phrase(text)
    is_one = stands_alone(value, max_words=MAX_VALUE_WORDS) and not NOT_A_FAVOURITE.match(value)
    return value if is_one else ""


PREPOSITION = re.compile(r"\b(?:with|of|for|in|to|on|at|about|from)\b")
LIST_END = re.compile(r"[.;:!?()\"]|\s-")
BETWEEN_MEMBERS = re.compile(r",\s*(?:and |or )?|\s(?:and|or)\s")
LAST_AND = re.compile(r"\b(?:and|or)\b")


def listed_things(text: str) -> list[str]:
    """The members of "a, b and c". A list needs its last "and": else a comma may begin anything."""
    chunk = LIST_END.split(text[:MAX_VALUE_CHARACTERS])[0]
    members = [member.strip() for member in BETWEEN_MEMBERS.split(chunk)]
    is_list = "," in chunk and LAST_AND.search(chunk.rpartition(",")[2])
    if not is_list or PREPOSITION.search(members[0]) or not 3 <= len(members) <= 6:
        return []
    are_things = all(
        0 < len(member.split()) <= 3 and liked_thing(member) == member for member in members
    )
    return members if are_things else []


# ── Plans ────────────────────────────────────────────────────────────────────────────────────────

LIST_FOLLOWS = re.compile(r"\s*,(?: [\w' -]{1,40},)*(?: [\w' -]{1,40})?,? (?:and|or) ")
EMPTY_ACTION = re.compile(
    r"(?:be(?! an? )|have|make sure|do|try|see|hear|know|say|tell|ask|thank|share|show|miss|need|"
    r"bed|keep|let|feel|think|look|check|give|continue|talk|mention|remember|admit|wait|find out|"
    r"come back|get back|pay attention|take a (?:look|break)|help|remind|sleep|use|work|put|stay|"
    r"focus|make a difference|cry|die|kill|stop)\b",
    re.I,
)


def planned_action(text: str) -> str:
    """What somebody is about to do."""
    phrase = first_phrase(text)
    if LIST_FOLLOWS.match(text[len(phrase) :]):
        return ""
    value = TRAILING_WORD.sub("", phrase)
    if not stands_alone(value, max_words=MAX_PLAN_WORDS):
        value = TRAILING_WORD.sub("", phrase.partition(" and ")[0])
    says_enough = len(FUTURE.sub("", value).split()) > 1
    if not says_enough or not stands_alone(value, max_words=MAX_PLAN_WORDS):
        return ""
    return "" if EMPTY_ACTION.match(value) else value


def trip(text: str) -> str:
    """Going to a named place, or somewhere at a time to come."""
    value = TRAILING_WORD.sub("", first_phrase(text))
    if not stands_alone(value, max_words=MAX_PLAN_WORDS):
        return ""
    return f"go to {value}" if FUTURE.search(value) or place(text) else ""


# What is wanted at a counter is had a minute later.
ERRAND = re.compile(
    r"(?:speak|book|pay|order|deposit|withdraw|pick up|transfer|change|exchange|return|repay|send|"
    r"reserve|cash|check (?:in|out)|make an? (?:\w+ )?(?:call|withdrawal|deposit|reservation|"
    r"appointment|complaint|payment|booking)|go|leave|get to|add|point out|discuss|"
    r"introduce)\b(?! back)"
)
VERB_AT_START = re.compile(r"(?!(?:an?|my|the|some)\b)[a-z]+\s")
GO_SOMEWHERE = re.compile(r"go (?:to [A-Z]|back to \w|abroad\b|on an? \w)")


def wish(text: str) -> str:
    """What somebody wants to do one day, and not at once."""
    value = planned_action(text)
    if GO_SOMEWHERE.match(value):
        return value
    return value if VERB_AT_START.match(value) and not ERRAND.match(value) else ""


# ── By name ──────────────────────────────────────────────────────────────────────────────────────

VALUE_FUNCTIONS: dict[str, Callable[[str], str]] = {
    function.__name__: function
    for function in (
        achievement,
        activity,
        as_written,
        association,
        counted,
        favourite,
        field_of_study,
        food_not_eaten,
        injury,
        institution,
        instruction,
        job,
        liked_thing,
        listed_job,
        lower_case,
        organisation,
        person_name,
        place,
        planned_action,
        possession,
        preferred,
        self_contained,
        stopped_instruction,
        thing,
        trip,
        wish,
    )
}
# What is tried in a message without capitals, when the function of that name gives nothing.
LOWER_CASE_FUNCTIONS: dict[str, Callable[[str], str]] = {"place": lower_case_place}
# Several values of one text; when there are none, the rule's value function is tried.
SPLIT_FUNCTIONS: dict[str, Callable[[str], list[str]]] = {
    "things": listed_things,
    "names": person_names,
}
