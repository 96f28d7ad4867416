"""A generated everyday life: what one person tells a persona over months, the same for one seed.

`ops/talk/everyday.toml` holds what there is to say: themes that come up again and again during a
part of a life, and moments that happen once, among them changes of facts and secrets.
"""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from engine.talk import Speaker
from ops.simulation.script import DAY, DAYS_PER_MONTH, Flagging, Interest, Storyline, flagging_of
from ops.transcripts import Transcript, Turn

LIFE = Path(__file__).parents[1] / "talk" / "everyday.toml"
NAME = "everyday"
BEGINS = date(2026, 1, 1)
CHATS_PER_WEEK = 3.0
THEMES_OF_A_CHAT = (1, 2)
LINES_OF_A_THEME = (1, 3)
DAYS_TO_FORGET, DAYS_TO_TAKE_BACK = (2, 20), (25, 80)  # after it was said
TAKEN_BACK_SHARE = 0.25  # of what is forgotten
TRIES = 12  # for a line that was not said before

Part = Annotated[float, Meta(ge=0, le=1)]  # of the whole life


class Theme(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that comes up again and again."""

    name: str
    lines: list[str]  # with slots in braces
    slots: dict[str, list[str]] = {}
    questions: list[str] = []
    since: Part = 0.0
    until: Part = 1.0
    weight: float = 1.0
    forgotten_share: Part = 0.0  # of its lines: they are forgotten on request some days later


class Moment(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that is said once."""

    at: Part
    says: str
    forgotten_after: int | None = None  # days
    taken_back_after: int | None = None
    asks: str = ""  # a question that it makes people ask from then on
    until: Part = 1.0  # as long as they ask it
    weight: float = 1.0


class Everyday(Struct, frozen=True, forbid_unknown_fields=True):
    """All there is to say in a generated life."""

    user: str
    persona: str
    replies: list[str]
    themes: list[Theme]
    moments: list[Moment]


class Generator:
    """Writes one life; what was said is never said again in the same words."""

    def __init__(self, everyday: Everyday, *, months: float, seed: int) -> None:
        self._everyday = everyday
        self._chance = random.Random(f"life {seed}")  # noqa: S311
        self._days = max(1, round(months * DAYS_PER_MONTH))
        self._said: set[str] = set()
        self._turns: list[Turn] = []
        self._forgotten: list[Flagging] = []
        self._taken_back: list[Flagging] = []

    def write(self) -> tuple[Transcript, Storyline]:
        """The transcript of the life, and what it is asked and forgets on request."""
        moments: dict[int, list[Moment]] = {}
        for moment in self._everyday.moments:
            moments.setdefault(self.day_of(moment.at), []).append(moment)
        for number in range(self._days):
            if number in moments or self._chance.random() < CHATS_PER_WEEK / 7:
                self.chat(number, moments.get(number, []))
        everyday = self._everyday
        transcript = Transcript(NAME, [everyday.user, everyday.persona], self._turns)
        return transcript, Storyline(list(self.interests()), self._forgotten, self._taken_back)

    def chat(self, number: int, moments: Sequence[Moment]) -> None:
        """One chat: what the moments bring, then lines of some themes, and the replies."""
        at = datetime.combine(self.on(number), time(8 + self._chance.randrange(12)), UTC)
        for moment in moments:
            at += timedelta(minutes=1)
            turn = self.say(Speaker.USER, moment.says, at)
            if moment.forgotten_after is not None:
                self._forgotten.append(flagging_of(turn, moment.forgotten_after))
            if moment.taken_back_after is not None:
                self._taken_back.append(flagging_of(turn, moment.taken_back_after))
        part = number / self._days
        themes = [theme for theme in self._everyday.themes if theme.since <= part <= theme.until]
        weights = [theme.weight for theme in themes]
        count = self._chance.randint(*THEMES_OF_A_CHAT)
        for theme in self._chance.choices(themes, weights, k=count):
            for _ in range(self._chance.randint(*LINES_OF_A_THEME)):
                at += timedelta(minutes=self._chance.randint(1, 4))
                if line := self.line(theme):
                    turn = self.say(Speaker.USER, line, at)
                    if self._chance.random() < theme.forgotten_share:
                        self.forget(turn)
            if self._chance.random() < 0.5:
                at += timedelta(minutes=1)
                self.say(Speaker.PERSONA, self._chance.choice(self._everyday.replies), at)

    def forget(self, turn: Turn) -> None:
        """Have a message forgotten on request some days later; some of that is taken back."""
        self._forgotten.append(flagging_of(turn, self._chance.randint(*DAYS_TO_FORGET)))
        if self._chance.random() < TAKEN_BACK_SHARE:
            self._taken_back.append(flagging_of(turn, self._chance.randint(*DAYS_TO_TAKE_BACK)))

    def line(self, theme: Theme) -> str | None:
        """A line of a theme that was not said before; None when none was found."""
        for _ in range(TRIES):
            slots = {name: self._chance.choice(values) for name, values in theme.slots.items()}
            line = self._chance.choice(theme.lines).format_map(slots)
            if line not in self._said:
                self._said.add(line)
                return line
        return None

    def say(self, role: Speaker, content: str, at: datetime) -> Turn:
        everyday = self._everyday
        speaker = everyday.user if role is Speaker.USER else everyday.persona
        turn = Turn(f"{NAME}-{len(self._turns) + 1:04}", role, speaker, content, at)
        self._turns.append(turn)
        return turn

    def interests(self) -> Iterator[Interest]:
        """What people ask about: the themes while they last, and what moments have changed."""
        for theme in self._everyday.themes:
            for question in theme.questions:
                yield self.interest(question, theme.since, theme.until, theme.weight)
        for moment in self._everyday.moments:
            if moment.asks:
                yield self.interest(moment.asks, moment.at, moment.until, moment.weight)

    def interest(self, question: str, since: float, until: float, weight: float) -> Interest:
        first, last = self.on(self.day_of(since)), self.on(self.day_of(until))
        return Interest(question, self._everyday.user, first, last, weight)

    def day_of(self, part: float) -> int:
        return min(self._days - 1, int(part * self._days))

    def on(self, number: int) -> date:
        return BEGINS + number * DAY


def everyday_life(*, months: float, seed: int) -> tuple[Transcript, Storyline]:
    """The transcript and the storyline of a generated life."""
    everyday = msgspec.toml.decode(LIFE.read_bytes(), type=Everyday)
    return Generator(everyday, months=months, seed=seed).write()
