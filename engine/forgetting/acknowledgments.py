"""Acknowledgments: what a persona says when it is asked to forget.

Short, in the persona's tone, and without any content word of the forgotten messages. By default the
sentences are templates. A language model may phrase them instead; it is never given the forgotten
messages, and when it is late or its sentence repeats one of their words, the template is used.
"""

import asyncio
import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import msgspec
import structlog
from msgspec import Struct

from engine.access import Tone
from engine.errors import LlmUnavailable
from engine.llm import Llm
from engine.settings import Settings
from engine.text import STOP_WORDS, sentences, stem_of, words

MAX_COMPARED_CHARACTERS = 200_000  # of the forgotten messages
STEM_PREFIX = 2  # letters that a word and its stem have in common, except for these words
IRREGULAR = {"dying", "lying", "tying"}

log = structlog.get_logger("acknowledgments")


@dataclass(frozen=True, slots=True)
class Phrases:
    """An acknowledgment for one message, for several in a row, and for a range."""

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
# Of stop words only, so that they repeat no content word, whatever is forgotten.
NEUTRAL_PHRASES = {"single": "It is so.", "several": "They are so.", "range": "All of it is so."}


class Acknowledger(ABC):
    """Phrases acknowledgments."""

    @abstractmethod
    async def phrases(self, tone: Tone, name: str, forgotten: Sequence[str], seed: str) -> Phrases:
        """Acknowledgments of the persona `name` that repeat no content word of `forgotten`."""


class Templates(Acknowledger):
    """Picks templates. The same seed gives the same ones."""

    async def phrases(self, tone: Tone, name: str, forgotten: Sequence[str], seed: str) -> Phrases:
        return await asyncio.to_thread(choose_templates, tone, forgotten, seed)


class LlmAnswer(Struct, frozen=True):
    """The answer that a language model is asked for."""

    single: str
    several: str
    range: str


INSTRUCTION = """\
You are a persona who has just been asked to forget something; you are not told what. Answer with
JSON only: {"single": "...", "several": "...", "range": "..."}. Each is what you say about it, one
short sentence, two at most, in your own tone: for one thing, for several in a row, for a whole
stretch of talk. Ask nothing, promise nothing more, and guess nothing about what it was."""


class LlmAcknowledger(Acknowledger):
    """Asks a language model. Where its answer cannot be used, a template is."""

    def __init__(self, llm: Llm, *, seconds: float) -> None:
        self._llm = llm
        self._seconds = seconds

    async def phrases(self, tone: Tone, name: str, forgotten: Sequence[str], seed: str) -> Phrases:
        fallback = await asyncio.to_thread(choose_templates, tone, forgotten, seed)
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._llm.ask(INSTRUCTION, f"You are {name}. Your tone: {tone}.")
            llm_answer = msgspec.convert(answer, LlmAnswer)
        except (LlmUnavailable, TimeoutError, msgspec.ValidationError) as error:
            log.warning("llm_acknowledgment_failed", why=type(error).__name__)
            return fallback
        return await asyncio.to_thread(usable_phrases, llm_answer, forgotten, fallback)


def open_acknowledger(settings: Settings) -> Acknowledger:
    """The acknowledger that the settings name."""
    if settings.acknowledger == "llm":
        return LlmAcknowledger(Llm(settings), seconds=settings.ack_seconds)
    return Templates()


def usable_phrases(answer: LlmAnswer, forgotten: Sequence[str], fallback: Phrases) -> Phrases:
    """The model's sentences; a fallback for each that is too long or repeats a forgotten word."""
    given = {kind: getattr(answer, kind) for kind in ("single", "several", "range")}
    short = {kind: text for kind, text in given.items() if is_short_statement(text)}
    repeated = repeated_stems(forgotten, frozenset().union(*map(content_stems, short.values())))
    usable = {
        kind: text for kind, text in short.items() if repeated.isdisjoint(content_stems(text))
    }
    return replace(fallback, **usable)


def choose_templates(tone: Tone, forgotten: Sequence[str], seed: str) -> Phrases:
    """Templates that repeat no word of the forgotten texts, varied by the seed."""
    repeated = repeated_stems(forgotten, template_stems(tone))

    def choose(kind: str) -> str:
        usable = [
            text for text in TEMPLATES[tone][kind] if repeated.isdisjoint(content_stems(text))
        ]
        if not usable:
            return NEUTRAL_PHRASES[kind]
        number = int(hashlib.sha256(f"{seed}{kind}".encode()).hexdigest(), 16)
        return usable[number % len(usable)]

    return Phrases(choose("single"), choose("several"), choose("range"))


@cache
def template_stems(tone: Tone) -> frozenset[str]:
    """The stems of all templates of a tone."""
    texts = [text for kind in TEMPLATES[tone].values() for text in kind]
    return frozenset().union(*map(content_stems, texts))


def repeated_stems(texts: Iterable[str], wanted: frozenset[str]) -> frozenset[str]:
    """Those of the wanted stems that are in the texts, up to MAX_COMPARED_CHARACTERS.

    Stemming is slow, so only words that can have one of the stems are stemmed.
    """
    prefixes = {stem[:STEM_PREFIX] for stem in wanted}
    characters_left, repeated = MAX_COMPARED_CHARACTERS, set[str]()
    for text in texts:
        if characters_left <= 0 or repeated == wanted:
            break
        distinct = {word.lower() for word in words(text[:characters_left])}
        possible = {
            word for word in distinct if word[:STEM_PREFIX] in prefixes or word in IRREGULAR
        }
        repeated |= {stem_of(word) for word in possible - STOP_WORDS} & wanted
        characters_left -= len(text)
    return frozenset(repeated)


def content_stems(text: str) -> frozenset[str]:
    """The stems of the words of a text that are no stop words."""
    return frozenset(
        stem_of(word) for word in map(str.lower, words(text)) if word not in STOP_WORDS
    )


def is_short_statement(text: str) -> bool:
    """Whether a text has at most two sentences and 200 characters, and does not end by asking."""
    return 0 < len(text) <= 200 and len(sentences(text)) <= 2 and not re.search(r"\?\s*$", text)
