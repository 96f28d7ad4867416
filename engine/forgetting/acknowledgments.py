"""What a persona says when it is asked to forget: short, in its tone, without a trace of it.

The sentences are templates and cost nothing. A language model may phrase them instead, with the
templates behind it: it is never shown what is to be forgotten, and never waited for long.
"""

import asyncio
import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import msgspec
import structlog
from msgspec import Struct

from engine.access import Tone
from engine.errors import LlmUnavailable
from engine.llm import Llm
from engine.settings import Settings
from engine.text import STOP_WORDS, sentences, stemmer, words

LOOKED_AT = 200_000  # characters of what is forgotten that are compared
KEPT = 2  # letters that a word and its stem begin with alike, but for these
IRREGULAR = {"dying", "lying", "tying"}

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
        return await asyncio.to_thread(chosen, tone, about, seed)


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
        fallback = await asyncio.to_thread(chosen, tone, about, seed)
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._llm.ask(INSTRUCTION, f"You are {name}. Your tone: {tone}.")
            voice = msgspec.convert(answer, Voice)
        except (LlmUnavailable, TimeoutError, msgspec.ValidationError) as error:
            log.warning("llm_acknowledgment_failed", why=type(error).__name__)
            return fallback
        return await asyncio.to_thread(spoken, voice, about, fallback)


def open_acknowledger(settings: Settings) -> Acknowledger:
    if settings.acknowledger == "llm":
        return InOwnVoice(Llm(settings), seconds=settings.ack_seconds)
    return Templates()


def spoken(voice: Voice, about: Sequence[str], fallback: Phrases) -> Phrases:
    """Sentences of a language model, each with its template instead when it is long or telling."""
    given = {kind: getattr(voice, kind) for kind in ("single", "several", "range")}
    short = {kind: text for kind, text in given.items() if is_short(text)}
    repeated = repeats(about, frozenset().union(*map(stems, short.values())))
    told = {kind: text for kind, text in short.items() if repeated.isdisjoint(stems(text))}
    return replace(fallback, **told)


def chosen(tone: Tone, about: Sequence[str], seed: str) -> Phrases:
    """Templates that repeat no word of what is forgotten, varied by the seed."""
    repeated = repeats(about, template_stems(tone))

    def one(kind: str) -> str:
        fit = [it for it in TEMPLATES[tone][kind] if repeated.isdisjoint(stems(it))]
        if not fit:
            return PLAINEST[kind]
        drawn = int(hashlib.sha256(f"{seed}{kind}".encode()).hexdigest(), 16)
        return fit[drawn % len(fit)]

    return Phrases(one("single"), one("several"), one("range"))


@cache
def template_stems(tone: Tone) -> frozenset[str]:
    return frozenset().union(*(stems(text) for kind in TEMPLATES[tone].values() for text in kind))


def repeats(texts: Iterable[str], wanted: frozenset[str]) -> frozenset[str]:
    """Those of these stems that the texts carry, as far as they are looked at.

    Stemming is slow, so only words that can have one of the stems are stemmed.
    """
    beginnings = {stem[:KEPT] for stem in wanted}
    left, found = LOOKED_AT, set[str]()
    for text in texts:
        if left <= 0 or found == wanted:
            break
        said = {word.lower() for word in words(text[:left])}
        near = {word for word in said if word[:KEPT] in beginnings or word in IRREGULAR}
        found |= {stem(word) for word in near - STOP_WORDS} & wanted
        left -= len(text)
    return frozenset(found)


@lru_cache(10_000)
def stem(word: str) -> str:
    return str(stemmer().stemWord(word))


def stems(text: str) -> frozenset[str]:
    """The words of a text that carry content, by their stems."""
    return frozenset(stem(word) for word in map(str.lower, words(text)) if word not in STOP_WORDS)


def is_short(text: str) -> bool:
    return 0 < len(text) <= 200 and len(sentences(text)) <= 2 and not re.search(r"\?\s*$", text)
