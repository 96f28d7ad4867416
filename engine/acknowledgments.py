"""What a persona says when it is asked to forget: short, in its tone, without a trace of it.

The sentences are templates and cost nothing. A language model may phrase them instead, with the
templates behind it: it is never shown what is to be forgotten, and never waited for long.
"""

import asyncio
import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import structlog
from msgspec import Struct

from engine.errors import LlmUnavailable
from engine.extraction.prose import sentences, words
from engine.llm import Llm
from engine.models import Tone
from engine.night.themes import stemmer, stop_words
from engine.settings import Settings

LOOKED_AT = 200_000  # characters of what is forgotten that are compared; beyond, only plain words

log = structlog.get_logger("acknowledgments")


@dataclass(frozen=True, slots=True)
class Phrases:
    """What to say for one message, for several in a row, and for a range."""

    single: str
    several: str
    range: str


TEMPLATES: dict[Tone, dict[str, tuple[str, ...]]] = {
    Tone.PLAIN: {
        "single": (
            "Okay, I'll let that go.",
            "Noted. I won't hold on to that.",
            "Done. I'll leave that behind.",
            "Understood, that one stays out.",
        ),
        "several": (
            "Okay, I'll let those go.",
            "Done. I won't hold on to several things there.",
            "Understood, I'll leave those behind.",
        ),
        "range": (
            "Okay, I'll let all of that go.",
            "Done. I'll leave that whole stretch behind.",
            "Understood, none of that stays.",
        ),
    },
    Tone.WARM: {
        "single": (
            "Of course. I'll let that go.",
            "Sure, that's gone from my side now.",
            "Gladly. I won't carry that with me.",
            "All right, I'll set that down.",
        ),
        "several": (
            "Of course. I'll let those go.",
            "Sure, I won't carry several of those with me.",
            "All right, I'll set those down.",
        ),
        "range": (
            "Of course. I'll let all of that go.",
            "Sure, I'll set that whole stretch down.",
            "Gladly. None of that comes along.",
        ),
    },
    Tone.PLAYFUL: {
        "single": (
            "What was that? Exactly.",
            "Poof. Nothing up my sleeve.",
            "Consider it dropped behind the sofa.",
            "And just like that, it was not there.",
        ),
        "several": (
            "Poof, and poof, and poof.",
            "Consider several things dropped behind the sofa.",
            "And just like that, they were not there.",
        ),
        "range": (
            "Poof, the whole lot of it.",
            "All of that just slid behind the sofa.",
            "And just like that, none of it was there.",
        ),
    },
    Tone.FORMAL: {
        "single": (
            "Certainly. I shall not retain that.",
            "As you wish; it will not be kept.",
            "Very well. That is set aside.",
            "Understood. I shall leave it out.",
        ),
        "several": (
            "Certainly. I shall not retain those.",
            "As you wish; several items will not be kept.",
            "Very well. Those are set aside.",
        ),
        "range": (
            "Certainly. I shall not retain any of that.",
            "As you wish; none of it will be kept.",
            "Very well. All of that is set aside.",
        ),
    },
}
# Of words that everybody uses all the time, so that they repeat nothing, whatever was said.
PLAINEST = {"single": "It is so.", "several": "They are so.", "range": "All of it is so."}


class Acknowledger(ABC):
    """Finds the words. `about` is what is to be forgotten, and must not be in them."""

    @abstractmethod
    async def phrases(self, tone: Tone, name: str, about: Sequence[str], seed: str) -> Phrases: ...


class Templates(Acknowledger):
    """Instant. The same for the same seed, and others for another."""

    async def phrases(self, tone: Tone, name: str, about: Sequence[str], seed: str) -> Phrases:
        return chosen(tone, about, seed)


class Voice(Struct, frozen=True):
    """What a language model answers."""

    single: str
    several: str
    range: str


INSTRUCTION = """\
You are a persona who has just been asked to forget something; you are not told what. Answer with
JSON only: {"single": "...", "several": "...", "range": "..."}. Each is what you say about it, one
short sentence, two at most, in your own tone: for one thing, for several in a row, for a whole
stretch of talk. Ask nothing, promise nothing more, and guess nothing about what it was."""


class InOwnVoice(Acknowledger):
    """A language model phrases it; late, wrong or telling, the template stands in."""

    def __init__(self, llm: Llm, *, seconds: float) -> None:
        self._llm = llm
        self._seconds = seconds

    async def phrases(self, tone: Tone, name: str, about: Sequence[str], seed: str) -> Phrases:
        fallback = chosen(tone, about, seed)
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._llm.ask(INSTRUCTION, f"You are {name}. Your tone: {tone}.")
            voice = msgspec.convert(answer, Voice)
        except (LlmUnavailable, TimeoutError, msgspec.ValidationError) as error:
            log.warning("llm_acknowledgment_failed", why=type(error).__name__)
            return fallback
        forbidden = said_in(about)
        told = {
            kind: text if is_short(text) and tells_nothing(text, forbidden) else plain
            for kind, text, plain in (
                ("single", voice.single, fallback.single),
                ("several", voice.several, fallback.several),
                ("range", voice.range, fallback.range),
            )
        }
        return Phrases(**told)


def open_acknowledger(settings: Settings) -> Acknowledger:
    if settings.acknowledger == "llm":
        return InOwnVoice(Llm(settings), seconds=settings.ack_seconds)
    return Templates()


def chosen(tone: Tone, about: Sequence[str], seed: str) -> Phrases:
    """Templates that repeat no word of what is forgotten, varied by the seed."""
    forbidden = said_in(about)

    def one(kind: str) -> str:
        fit = [it for it in TEMPLATES[tone][kind] if tells_nothing(it, forbidden)]
        if not fit:
            return PLAINEST[kind]
        drawn = int(hashlib.sha256(f"{seed}{kind}".encode()).hexdigest(), 16)
        return fit[drawn % len(fit)]

    return Phrases(one("single"), one("several"), one("range"))


def said_in(texts: Iterable[str]) -> frozenset[str]:
    """The words of some texts that carry content, by their stems."""
    left, found = LOOKED_AT, set[str]()
    for text in texts:
        found |= stems(text[:left])
        left -= len(text)
        if left <= 0:
            break
    return frozenset(found)


def stems(text: str) -> set[str]:
    told = (word.lower() for word in words(text))
    return {stemmer().stemWord(word) for word in told if word not in stop_words()}


def tells_nothing(text: str, forbidden: frozenset[str]) -> bool:
    return forbidden.isdisjoint(stems(text))


def is_short(text: str) -> bool:
    return 0 < len(text) <= 200 and len(sentences(text)) <= 2 and not re.search(r"\?\s*$", text)
