"""A question as a search understands it: what it is about, whom it means, and what time.

Rules for English; in any other language the whole question is what it is about. People's names are
kept apart from the rest, since one name makes all that was ever said of somebody alike.
"""

import re
from calendar import day_name, month_name
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from engine.text import FIRST_PERSON, QUESTION_WORDS, SECOND_PERSON, straighten_quotes, words

LOOKED_AT = 4000  # characters in which times are looked for; what is asked after a page of text
DAY = timedelta(days=1)
MONTHS = {name: place for place, name in enumerate(month_name) if name}
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
    # Alone, "May" and "March" are months only where a month is told.
    re.compile(rf"\b(?:[Ii]n|[Oo]f|[Ss]ince|[Dd]uring|[Ll]ast|[Tt]his)\s+(?P<month>{MONTH})\b"),
    re.compile(rf"\b(?P<month>{'|'.join(set(MONTHS) - {'May', 'March'})})\b"),
    re.compile(rf"\b(?:[Ii]n|[Oo]f|[Ss]ince|[Dd]uring)\s+(?P<year>{YEAR})\b"),
)
AGO = re.compile(rf"\b(?P<count>{NUMBER})\s+(?P<unit>day|week|month|year)s?\s+ago\b", re.IGNORECASE)
LAST = re.compile(
    rf"\b(?P<which>last|this|past)\s+(?P<unit>week|weekend|month|year|night|{'|'.join(WEEKDAYS)})\b",
    re.IGNORECASE,
)
NAMED_DAY = re.compile(
    rf"\b(?P<day>day before yesterday|yesterday|today|tonight|(?:on\s+)(?:{'|'.join(WEEKDAYS)}))\b",
    re.IGNORECASE,
)
RUN, SPACE = re.compile(r"\w+"), re.compile(r"\s+")
DAYS = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class Span:
    """A time that is asked about; its end is not part of it."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for."""

    text: str  # what it is about, without names: what is embedded
    words: tuple[str, ...]  # those that say what it is about, in lower case
    people: frozenset[str]  # whom it means, by the names they are remembered under
    spans: tuple[Span, ...]


def parse_question(
    asked: str,
    *,
    people: Sequence[str],
    now: datetime,
    i: str | None = None,
    you: str | None = None,
) -> Question:
    """What a question means to somebody who knows these people. `i` asks it of `you`."""
    text = straighten_quotes(asked)
    meant, text = named(text, people)
    left = [word.lower() for word in words(text)]
    if not meant:
        meant |= {i} if i and FIRST_PERSON & {*left} else set()
        meant |= {you} if you and SECOND_PERSON & {*left} else set()
    found = [word for word in dict.fromkeys(map(bare, left)) if word and word not in QUESTION_WORDS]
    about = " ".join(text.split()).strip(" ,.:;-") or asked
    return Question(
        text=about if found else asked,
        words=tuple(found or dict.fromkeys(left)),
        people=frozenset(meant),
        spans=tuple(spans(straighten_quotes(asked[:LOOKED_AT]), now)),
    )


@dataclass(frozen=True, slots=True)
class Known:
    """People by the first part of their names, and how long such parts are that begin alike."""

    by_first: dict[str, list[str]]
    lengths: dict[str, set[int]]


@lru_cache(64)
def known(people: tuple[str, ...], *, careless: bool) -> Known:
    index = Known(defaultdict(list), defaultdict(set))
    for name in people:
        parts = (name.lower() if careless else name).split()
        if parts and len(parts[0]) > 1 and (begins := RUN.match(parts[0])):
            index.by_first[parts[0]].append(name)
            index.lengths[begins[0]].add(len(parts[0]))
    return index


def named(text: str, people: Sequence[str]) -> tuple[set[str], str]:
    """Who of these is named, by their whole name or its first part, and the text without names.

    Reads the text once, however many people there are.
    """
    careless = text == text.lower()  # who writes no capitals does not mean the word "will" by Will
    index = known(tuple(people), careless=careless)
    meant, kept, end = set[str](), list[str](), 0
    for run in RUN.finditer(text):
        for length in index.lengths.get(run[0], ()):
            first = text[run.start() : run.start() + length]
            names = index.by_first.get(first)
            after = after_name(text, run.start() + length)
            if not names or after is None:
                continue
            meant.update(names)
            whole = names[0].lower() if careless else names[0]
            after = after_rest(text, run.start() + length, whole.split()[1:]) or after
            if after > end:
                kept.append(text[end : run.start()])
                end = after
    kept.append(text[end:])
    return meant, " ".join(kept)


def after_rest(text: str, place: int, rest: Sequence[str]) -> int | None:
    """Where a name ends whose other parts follow here; None when they do not."""
    for part in rest:
        space = SPACE.match(text, place)
        if not space or not text.startswith(part, space.end()):
            return None
        place = space.end() + len(part)
    return after_name(text, place)


def after_name(text: str, place: int) -> int | None:
    """Where a name that ends here ends with its "'s"; None inside of a word."""
    owned = place + 2
    if text[place:owned] in ("'s", "`s") and not RUN.match(text, owned):
        return owned
    return None if RUN.match(text, place) else place


def bare(word: str) -> str:
    """The word without what belongs to somebody."""
    return word.removesuffix("'s").removesuffix("'")


def spans(text: str, now: datetime) -> Iterator[Span]:
    """The times a question names, as seen from now."""
    taken = text
    for date in DATES:
        for found in date.finditer(taken):
            if span := dated(found.groupdict(), now):
                yield span
        taken = date.sub(" ", taken)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for found in AGO.finditer(taken):
        count = found["count"].lower()
        days = (NUMBERS.get(count) or int(count)) * DAYS[found["unit"].lower()]
        # The farther away, the less exactly it is meant.
        yield Span(today - days * 1.15 * DAY - DAY, today - days * 0.85 * DAY + DAY)
    for found in LAST.finditer(taken):
        yield recent(found["which"].lower(), found["unit"].lower(), today)
    for found in NAMED_DAY.finditer(taken):
        day = found["day"].lower().removeprefix("on").strip()
        if day in WEEKDAYS:
            yield recent("last", day, today)
        else:
            back = {"yesterday": 1, "day before yesterday": 2}.get(day, 0)
            yield Span(today - back * DAY, today - back * DAY + DAY)


def dated(parts: dict[str, str | None], now: datetime) -> Span | None:
    """A day, a month or a year. Without its year, the last one there was."""
    month = MONTHS.get(parts.get("month") or "") or int(parts.get("number") or 0)
    year = int(parts.get("year") or 0)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if not month:
            return Span(start_of(midnight, year, 1), start_of(midnight, year + 1, 1))
        year = year or (now.year if month <= now.month else now.year - 1)
        if parts.get("day"):
            day = midnight.replace(year=year, month=month, day=int(parts["day"] or 1))
            return Span(day, day + DAY)
        following = (year + 1, 1) if month == 12 else (year, month + 1)
        return Span(start_of(midnight, year, month), start_of(midnight, *following))
    except ValueError:  # there is no such day
        return None


def start_of(midnight: datetime, year: int, month: int) -> datetime:
    return midnight.replace(year=year, month=month, day=1)


def recent(which: str, unit: str, today: datetime) -> Span:
    if unit in WEEKDAYS:
        back = (today.weekday() - WEEKDAYS.index(unit)) % 7 or (0 if which == "this" else 7)
        return Span(today - back * DAY, today - back * DAY + DAY)
    if unit == "night":
        return Span(today - DAY, today + DAY)
    days = DAYS[unit]
    if which == "this":
        return Span(today - days * DAY, today + DAY)
    # Last week is the seven days before the ones of this week, or just the last seven.
    return (
        Span(today - 2 * days * DAY, today + DAY)
        if unit != "week"
        else Span(today - (today.weekday() + 7) * DAY, today + DAY)
    )


def time_fit(span: Span, said_at: datetime) -> float:
    """How well a time at which something was said fits a time that is asked about.

    People tell of things when they happen, or some days later.
    """
    if said_at < span.start:
        return 0.0
    late = (said_at - span.end) / DAY
    if late < 0:
        return 1.0
    return 0.7 if late < 7 else 0.3 if late < 31 else 0.0
