"""The sentence that says how a shape feels: from a template, or from a language model.

A language model is given nothing but what the shape already says, and its sentence is kept only if
every word of it is one of those or belongs to none: a model that guesses what was lost is refused.
"""

from typing import Annotated, Protocol

import msgspec
import structlog
from msgspec import Meta, Struct

from engine.errors import LlmUnavailable
from engine.llm import Llm
from engine.memory.shape_content import MAX_EXPERIENCE, ShapeOutline
from engine.settings import Settings
from engine.text import STOP_WORDS, straighten_quotes, word_set, words

INSTRUCTION = """\
You say in one sentence what it is like to have forgotten something. You are given all that is still
known: themes, times, how many memories, and how much it mattered. Answer with JSON only:
{"felt_absence": "<one sentence>"}. Name nothing that you are not given; guess nothing."""

# What a sentence may say of an absence besides the words it is given.
ABSENCE_WORDS = word_set(
    "absence absent aching ache away blank blurred dim distant echo echoes edge edges empty "
    "emptiness fade faded faint fainter feel feeling feels feelings felt forgotten fragment "
    "fragments gap gone hollow hole lack left lingering lingers loss lost matter mattered matters "
    "memories memory miss missing month months once outline outlines place quiet remain remains "
    "residue sense sensed shadow shadows shape shapes silence slipped soft softly something space "
    "still trace traces unnamed vague vaguely warm warmth weight whisper years"
)

log = structlog.get_logger("shapes")


class Answer(Struct, frozen=True):
    """The whole answer of the language model."""

    felt_absence: Annotated[str, Meta(min_length=1, max_length=MAX_EXPERIENCE)]


class ShapePhraser(Protocol):
    """Says in one sentence how a shape feels; None to leave it to the template."""

    async def phrase(self, outline: ShapeOutline) -> str | None: ...


class TemplatePhraser:
    """Leaves every sentence to the template."""

    async def phrase(self, outline: ShapeOutline) -> str | None:
        return None


class LlmPhraser:
    """Asks a language model. What it adds, what fails and what is slow gives the template."""

    def __init__(self, llm: Llm) -> None:
        self._llm = llm

    async def phrase(self, outline: ShapeOutline) -> str | None:
        try:
            answer = await self._llm.ask(INSTRUCTION, outline.felt_absence)
            sentence = msgspec.convert(answer, Answer).felt_absence.strip()
        except (LlmUnavailable, msgspec.ValidationError) as error:
            log.warning("llm_phrasing_failed", why=type(error).__name__)
            return None
        if not says_only_what_is_known(sentence, outline):
            log.warning("llm_phrasing_refused")
            return None
        return sentence


def says_only_what_is_known(sentence: str, outline: ShapeOutline) -> bool:
    """Whether every word is one of the outline's, one for an absence, or a function word."""
    known = {word.lower() for word in words(straighten_quotes(outline.felt_absence))}
    known |= {str(outline.memories)}
    said = [word.lower() for word in words(straighten_quotes(sentence))]
    return bool(said) and all(
        word in known or word in ABSENCE_WORDS or word in STOP_WORDS for word in said
    )


def open_phraser(settings: Settings) -> ShapePhraser:
    return LlmPhraser(Llm(settings)) if settings.extractor == "llm" else TemplatePhraser()
