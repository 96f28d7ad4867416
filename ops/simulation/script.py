"""The script of a simulated life: for each day what is said, asked, forgotten and taken back."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta

from engine.talk import Speaker
from engine.text import sentences
from ops.transcripts import Transcript, Turn

DAY = timedelta(days=1)
DAYS_PER_MONTH = 365 / 12
QUESTIONS_PER_WEEK = 4
EVENING = 21  # when questions are asked: what was said that day can answer them

# For a transcript that says nothing of questions and flags of its own:
FAVOURITES = 12  # things said that people ask about again and again
QUESTION_WORDS = range(6, 24)  # in what they ask
SECRET_WORDS = range(8, 25)  # in a message that is forgotten on request
SECRETS = ((0, None), (9, 50), (30, None))  # days until it is forgotten, and until taken back


@dataclass(frozen=True, slots=True)
class Question:
    """Something that a person asks the persona."""

    at: datetime
    asked_by: str
    text: str


@dataclass(frozen=True, slots=True)
class Flagging:
    """A message that is flagged, or whose flag is undone."""

    at: datetime
    message_id: str


@dataclass(frozen=True, slots=True)
class Interest:
    """Something that a person asks about again and again, during a part of a life."""

    question: str
    asked_by: str
    since: date
    until: date
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Storyline:
    """What a life has beside its transcript: what it is asked, and what it forgets on request."""

    interests: Sequence[Interest]
    forgotten: Sequence[Flagging]
    taken_back: Sequence[Flagging]


@dataclass(slots=True)
class Day:
    """All that happens on one day, before the night that ends it."""

    on: date
    said: list[Turn] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    forgotten: list[Flagging] = field(default_factory=list)
    taken_back: list[Flagging] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.said or self.asked or self.forgotten or self.taken_back)


@dataclass(frozen=True, slots=True)
class Script:
    """The days of a life, from its first to its last, the empty ones too."""

    transcript: Transcript
    days: list[Day]


def write_script(
    transcript: Transcript, storyline: Storyline, *, months: float, seed: int
) -> Script:
    """The script of so many months from the first turn on. What comes later is left out."""
    first = transcript.turns[0].said_at.date()
    count = max(1, round(months * DAYS_PER_MONTH))
    days = {(on := first + number * DAY): Day(on) for number in range(count)}
    for turn in transcript.turns:
        if day := days.get(turn.said_at.date()):
            day.said.append(turn)
    for flagging in storyline.forgotten:
        if day := days.get(flagging.at.date()):
            day.forgotten.append(flagging)
    for flagging in storyline.taken_back:
        if day := days.get(flagging.at.date()):
            day.taken_back.append(flagging)
    chance = random.Random(f"questions {seed}")  # noqa: S311
    for day in days.values():
        day.asked += questions_of(day.on, storyline.interests, chance)
    return Script(transcript, list(days.values()))


def moved(script: Script, by: timedelta) -> Script:
    """The same script at another time."""

    def later(turn: Turn) -> Turn:
        return replace(turn, said_at=turn.said_at + by)

    days = [
        Day(
            day.on + by,
            [later(turn) for turn in day.said],
            [replace(question, at=question.at + by) for question in day.asked],
            [replace(flagging, at=flagging.at + by) for flagging in day.forgotten],
            [replace(flagging, at=flagging.at + by) for flagging in day.taken_back],
        )
        for day in script.days
    ]
    return replace(script, days=days)


def questions_of(on: date, interests: Sequence[Interest], chance: random.Random) -> list[Question]:
    """What is asked on a day: on some days one question, about something of interest then."""
    current = [interest for interest in interests if interest.since <= on <= interest.until]
    if chance.random() > QUESTIONS_PER_WEEK / 7 or not current:
        return []
    (interest,) = chance.choices(current, [interest.weight for interest in current])
    at = datetime.combine(on, time(EVENING, chance.randrange(60)), UTC)
    return [Question(at, interest.asked_by, interest.question)]


def storyline_of(transcript: Transcript, *, seed: int) -> Storyline:
    """A storyline for a transcript that has none: favourites to ask about, and some secrets."""
    chance = random.Random(f"storyline {seed}")  # noqa: S311
    end = transcript.turns[-1].said_at.date() + timedelta(days=10 * 365)
    by_users = [turn for turn in transcript.turns if turn.role is Speaker.USER]
    askable = [turn for turn in by_users if words(first_sentence(turn)) in QUESTION_WORDS]
    favourites = chance.sample(askable, min(FAVOURITES, len(askable)))
    interests = [
        Interest(first_sentence(turn), turn.speaker, turn.said_at.date(), end, 1 / rank)
        for rank, turn in enumerate(favourites, start=1)
    ]
    secrets = [
        turn
        for turn in by_users[: len(by_users) // 2]
        if words(turn.content) in SECRET_WORDS and turn not in favourites
    ]
    forgotten, taken_back = [], []
    chosen = chance.sample(secrets, min(len(SECRETS), len(secrets)))
    for turn, (forget_after, take_back_after) in zip(chosen, SECRETS, strict=False):
        forgotten.append(flagging_of(turn, forget_after))
        if take_back_after:
            taken_back.append(flagging_of(turn, take_back_after))
    return Storyline(interests, forgotten, taken_back)


def flagging_of(turn: Turn, days: int) -> Flagging:
    """A flag, or its undo, on the evening of a day that long after the message."""
    evening = datetime.combine(turn.said_at.date() + days * DAY, time(EVENING, 59), UTC)
    return Flagging(max(evening, turn.said_at), turn.message_id)


def first_sentence(turn: Turn) -> str:
    return next(iter(sentences(turn.content)), "")


def words(text: str) -> int:
    return len(text.split())
