"""A persona that answers in pages: prose, lists and code, as long as a message may be."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from bench.lives import Engine, Replay
from engine import bounds
from engine.service.clock import MovableClock
from engine.talk.models import Speaker
from engine.text import themes
from ops.transcripts import Transcript, Turn
from tests.lives import Life

LONGEST = bounds.MESSAGE
MONDAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
CODE = """
```python
def water(beds: list[Bed], *, rain: float) -> dict[str, float]:
    \"\"\"Litres for each bed, less what the rain has given.\"\"\"
    return {bed.name: max(0.0, bed.area * NEED[bed.plant] - rain) for bed in beds}
```
"""
LIST = "\n".join(
    f"{nth}. **Bed {nth}**: dig, sow, thin, water; see `plan[{nth}]`." for nth in range(9)
)
PAGE = (
    "Here is a longer plan for the tomato garden. Tomato seedlings go out after the last frost, "
    "and every tomato bed needs compost. Would you like me to write the watering schedule as well? "
)


def answer(place: int) -> str:
    """A page of an assistant, different each time, up to the limit of a message."""
    part = f"Part {place}: the garden in week {place}. {PAGE}\n\n{LIST}\n{CODE}\n"
    return (part * (LONGEST // len(part) + 1))[: LONGEST - place]


def conversation(days: int, answers: int) -> Transcript:
    turns = []
    for day in range(days):
        for place in range(answers):
            at = MONDAY + timedelta(days=day, minutes=2 * place)
            number = day * answers + place
            asked = f"How do I water the tomato garden in week {number}?"
            turns.append(Turn(f"q{number}", Speaker.USER, "Sam", asked, at))
            turns.append(
                Turn(
                    f"a{number}", Speaker.PERSONA, "Ada", answer(number), at + timedelta(minutes=1)
                )
            )
    return Transcript("long", ["Sam", "Ada"], turns)


async def test_long_answers_are_recorded_drawn_from_and_slept_on(
    life: Life, admin: httpx.AsyncClient, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    whole = themes.WordForms.of

    def reading(text: str) -> themes.WordForms:
        read.append(min(len(text), themes.MAX_READ_CHARACTERS))
        return whole(text)

    monkeypatch.setattr(themes.WordForms, "of", reading)
    said = conversation(days=3, answers=3)
    lived = Replay()
    await Engine(life.graph, life.embedder, admin, life.tenant_id).replay(said, lived)

    slow = [
        failure for failure in lived.failures if " s for " in failure
    ]  # how long it takes is not tested here
    assert [failure for failure in lived.failures if failure not in slow] == []
    assert lived.messages == len(said.turns) == 18
    assert lived.characters > 9 * (LONGEST - 100)
    assert lived.nights == 4  # three days, and until what was said on the last has had its time
    # Each passage is read once, for its theme; of a message a beginning, for a label and for what
    # sums it up.
    beginnings = 3 * themes.MAX_READ_CHARACTERS * lived.messages
    assert sum(read) <= 1.1 * lived.characters + beginnings
