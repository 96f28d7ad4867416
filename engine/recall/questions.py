"""Parses a question: its topic, the people it names, and the periods it asks about.

The rules know English, and what `languages/*.toml` tells of others: there the words that ask are
listed, and times are put into English before they are read. In a language without a file the whole
question is the topic. People's names are cut from the text that is embedded, because a name makes
everything said about that person similar.
"""

import re
from calendar import day_name, month_name
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from engine.recall.asked_facts import asked_fact
from engine.recall.frames import frame_of
from engine.recall.languages import ENGLISH_QUESTIONS, question_language
from engine.text import straighten_quotes, words

MAX_CHARACTERS = 8000  # of a question that are read, half at its beginning and half at its end
MAX_DATED_CHARACTERS = 4000  # in which dates are searched; some paste pages of text
DAY = timedelta(days=1)
MONTHS = {name: number for number, name in enumerate(month_name) if name}
WEEKDAYS = tuple(name.lower() for name in day_name)
NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "couple of": 2,
    "three": 3,
    "few": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
}

MONTH = "|".join(MONTHS)
YEAR = r"(?:19|20)\d\d"
NUMBER = r"\d{1,3}|" + "|".join(NUMBERS)
DATES = (
    re.compile(rf"\b(?P<year>{YEAR})-(?P<number>\d\d)(?:-(?P<day>\d\d))?\b"),
    re.compile(
        rf"\b(?P<month>{MONTH})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year>{YEAR})\b)?"
    ),
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{MONTH})\b"
        rf"(?:,?\s+(?P<year>{YEAR})\b)?"
    ),
    re.compile(rf"\b(?P<month>{MONTH}),?\s+(?:of\s+)?(?P<year>{YEAR})\b"),
    # "May" and "March" alone are months only after such a word.
    re.compile(rf"\b(?:[Ii]n|[Oo]f|[Ss]ince|[Dd]uring|[Ll]ast|[Tt]his)\s+(?P<month>{MONTH})\b"),
    re.compile(rf"\b(?P<month>{'|'.join(set(MONTHS) - {'May', 'March'})})\b"),
    re.compile(rf"\b(?:[Ii]n|[Oo]f|[Ss]ince|[Dd]uring)\s+(?P<year>{YEAR})\b"),
)
UNITS_AGO = re.compile(
    rf"\b(?P<count>{NUMBER})\s+(?P<unit>day|week|month|year)s?\s+ago\b", re.IGNORECASE
)
RECENT = re.compile(
    rf"\b(?P<which>last|this|past)\s+(?P<unit>week|weekend|month|year|night|{'|'.join(WEEKDAYS)})\b",
    re.IGNORECASE,
)
NAMED_DAY = re.compile(
    rf"\b(?P<day>day before yesterday|yesterday|today|tonight|(?:on\s+)(?:{'|'.join(WEEKDAYS)}))\b",
    re.IGNORECASE,
)
# Of several answers the newest are meant. "Last week" is a period, "the last three" is not.
NEWEST = re.compile(
    rf"\b(?:latest|newest|most\s+recent(?:ly)?|recently|lately|currently|nowadays|"
    rf"last\s+(?:time|(?:{NUMBER})\b(?!\s+(?:day|week|month|year)s?\b)))\b",
    re.IGNORECASE,
)
LETTERS, SPACE = re.compile(r"\w+"), re.compile(r"\s+")
DAYS_PER_UNIT = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class Period:
    """A time that a question asks about, without its end."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed question."""

    text: str  # without names; this is embedded
    words: tuple[str, ...]  # of the topic, in lower case
    people: frozenset[str]  # who is meant, by the names they are stored under
    periods: tuple[Period, ...]
    persona: str | None = None  # the name of who is asked
    asks_persona: bool = False  # for what the persona itself said
    fact: str | None = None  # the key of the one fact that is asked for
    asks_past: bool = False  # for what held before too
    wants_newest: bool = False  # rather than what was said long ago
    # Wants help with something, rather than to know what was said or done.
    looks_forward: bool = False


def parse_question(
    asked: str,
    *,
    people: Sequence[str],
    now: datetime,
    asked_by: str | None = None,
    persona_name: str | None = None,
) -> Question:
    """The parsed question. `people` are the names that are recognized.

    When it names nobody, "did you say" means the persona, and else "I" means `asked_by`.
    """
    asked = without_middle(asked)
    language = question_language(asked)
    frame = frame_of(straighten_quotes(asked))
    named, text = cut_names(frame.topic, people)
    looks_forward = not named and not frame.looks_back
    lowered = [word.lower() for word in words(text)]
    if not named:
        lowered_asked = {word.lower() for word in words(asked)}
        says_i = bool(language.first_person & lowered_asked)
        says_you = bool(language.second_person & lowered_asked)
        if language is ENGLISH_QUESTIONS:  # it has rules for "did you say"
            says_you = frame.asks_persona
            says_i = says_i and not says_you
        named |= {asked_by} if asked_by and says_i else set()
        named |= {persona_name} if persona_name and says_you else set()
    fact = asked_fact(asked, people=sorted(named), persona_name=persona_name)
    topic_words = [
        word
        for word in dict.fromkeys(map(without_possessive, lowered))
        if word and word not in language.question_words
    ]
    dated = language.times_in_english(straighten_quotes(asked[:MAX_DATED_CHARACTERS]))
    topic = " ".join(text.split()).strip(" ,.:;-") or asked
    return Question(
        text=topic if topic_words else asked,
        words=tuple(topic_words or dict.fromkeys(lowered)),
        people=frozenset(named),
        periods=tuple(periods_in(dated, now)),
        wants_newest=bool(NEWEST.search(dated)),
        persona=persona_name,
        fact=fact.key if fact else None,
        asks_past=bool(fact and fact.past),
        asks_persona=frame.asks_persona,
        looks_forward=looks_forward,
    )


def without_middle(asked: str) -> str:
    """A long question without its middle: some paste pages, and ask before or after them."""
    half = MAX_CHARACTERS // 2
    return asked if len(asked) <= MAX_CHARACTERS else f"{asked[:half]} {asked[-half:]}"


@dataclass(frozen=True, slots=True)
class NameIndex:
    """People by the first part of their names.

    A first name such as "Jean-Luc" begins with the letters "Jean"; `lengths` tells by these how
    long the first names are that begin with them.
    """

    by_first_name: dict[str, list[str]]
    lengths: dict[str, set[int]]


@lru_cache(64)
def name_index(people: tuple[str, ...], *, lowercase: bool) -> NameIndex:
    index = NameIndex(defaultdict(list), defaultdict(set))
    for name in people:
        parts = (name.lower() if lowercase else name).split()
        if parts and len(parts[0]) > 1 and (letters := LETTERS.match(parts[0])):
            index.by_first_name[parts[0]].append(name)
            index.lengths[letters[0]].add(len(parts[0]))
    return index


def cut_names(text: str, people: Sequence[str]) -> tuple[set[str], str]:
    """Who of these people is named, by full or first name, and the text without the names.

    One pass over the text, however many people there are.
    """
    # Case decides between "will" and Will, unless the whole text is in lower case.
    lowercase = text == text.lower()
    index = name_index(tuple(people), lowercase=lowercase)
    named, kept, end = set[str](), list[str](), 0
    for letters in LETTERS.finditer(text):
        start = letters.start()
        for length in index.lengths.get(letters[0], ()):
            names = index.by_first_name.get(text[start : start + length])
            name_end = end_of_name(text, start + length)
            if not names or name_end is None:
                continue
            named.update(names)
            full_name = names[0].lower() if lowercase else names[0]
            name_end = end_of_full_name(text, start + length, full_name.split()[1:]) or name_end
            if name_end > end:
                kept.append(text[end:start])
                end = name_end
    kept.append(text[end:])
    return named, " ".join(kept)


def end_of_full_name(text: str, position: int, other_parts: Sequence[str]) -> int | None:
    """The position after a name whose other parts follow here; None when they do not."""
    for part in other_parts:
        space = SPACE.match(text, position)
        if not space or not text.startswith(part, space.end()):
            return None
        position = space.end() + len(part)
    return end_of_name(text, position)


def end_of_name(text: str, position: int) -> int | None:
    """The position after a name and its "'s"; None when a word goes on at this position."""
    after_possessive = position + 2
    if text[position:after_possessive] in ("'s", "`s") and not LETTERS.match(
        text, after_possessive
    ):
        return after_possessive
    return None if LETTERS.match(text, position) else position


def without_possessive(word: str) -> str:
    return word.removesuffix("'s").removesuffix("'")


def periods_in(text: str, now: datetime) -> Iterator[Period]:
    """The periods that a text names, as seen from now."""
    remaining = text
    for pattern in DATES:
        for match in pattern.finditer(remaining):
            if period := date_period(match.groupdict(), now):
                yield period
        remaining = pattern.sub(" ", remaining)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for match in UNITS_AGO.finditer(remaining):
        count = match["count"].lower()
        days = (NUMBERS.get(count) or int(count)) * DAYS_PER_UNIT[match["unit"].lower()]
        # The longer ago, the less exact people are.
        yield Period(today - days * 1.15 * DAY - DAY, today - days * 0.85 * DAY + DAY)
    for match in RECENT.finditer(remaining):
        yield recent_period(match["which"].lower(), match["unit"].lower(), today)
    for match in NAMED_DAY.finditer(remaining):
        day = match["day"].lower().removeprefix("on").strip()
        if day in WEEKDAYS:
            yield recent_period("last", day, today)
        else:
            days_back = {"yesterday": 1, "day before yesterday": 2}.get(day, 0)
            yield Period(today - days_back * DAY, today - days_back * DAY + DAY)


def date_period(parts: dict[str, str | None], now: datetime) -> Period | None:
    """A day, a month or a year; None when there is no such day. Without a year, the last one."""
    month = MONTHS.get(parts.get("month") or "") or int(parts.get("number") or 0)
    year = int(parts.get("year") or 0)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if not month:
            return Period(month_start(midnight, year, 1), month_start(midnight, year + 1, 1))
        year = year or (now.year if month <= now.month else now.year - 1)
        if parts.get("day"):
            day = midnight.replace(year=year, month=month, day=int(parts["day"] or 1))
            return Period(day, day + DAY)
        next_month = (year + 1, 1) if month == 12 else (year, month + 1)
        return Period(month_start(midnight, year, month), month_start(midnight, *next_month))
    except ValueError:
        return None


def month_start(midnight: datetime, year: int, month: int) -> datetime:
    return midnight.replace(year=year, month=month, day=1)


def recent_period(which: str, unit: str, today: datetime) -> Period:
    """The period of "last week", "this month", "last Monday" and the like."""
    if unit in WEEKDAYS:
        days_back = (today.weekday() - WEEKDAYS.index(unit)) % 7 or (0 if which == "this" else 7)
        return Period(today - days_back * DAY, today - days_back * DAY + DAY)
    if unit == "night":
        return Period(today - DAY, today + DAY)
    days = DAYS_PER_UNIT[unit]
    if which == "this":
        return Period(today - days * DAY, today + DAY)
    # "Last" can mean the unit before this one, or just the time up to now: both are taken.
    start = today - (today.weekday() + 7) * DAY if unit == "week" else today - 2 * days * DAY
    return Period(start, today + DAY)
