"""From a message to memory candidates, without a language model.

Pure functions over values: the gate keeps junk out, then an episodic item keeps what was said, the
statements in it become semantic items, and a marked feeling a somatic one. A long message gives an
episodic item for each of its passages. A message in a language that has no rules is remembered as
it was said.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.extraction.feelings import Feeling, ValenceLexicon, strongest_feeling
from engine.extraction.gate import GateResult, gate
from engine.extraction.rules import load_language
from engine.extraction.statements import statements
from engine.models import MemoryType
from engine.text import ENGLISH, fingerprint, language_of, split_passages, without_unprintable

MAX_JUNK_CHARACTERS = 300  # a longer passage is not looked at by the gate again
MY_AT_START = re.compile(r"^(?:my|our)\b")


@dataclass(frozen=True, slots=True)
class ExtractionInput:
    """One message as the extractor sees it."""

    message_id: str
    speaker: str  # as others would call them
    role: str  # user or persona
    content: str
    said_at: datetime
    conversation: str  # a readable name of where it was said; may be empty


@dataclass(frozen=True, slots=True)
class Extracted:
    """One memory item drawn from a message."""

    memory_type: MemoryType
    text: str  # one sentence in the third person
    content: dict[str, Any]

    @property
    def meaning(self) -> str:
        """What is embedded. Who said it is left out: one name makes all short texts alike."""
        return str(self.content.get("said") or self.text)


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a message gave, and why some or all of it was left out."""

    items: tuple[Extracted, ...]
    left_out: tuple[str, ...]


def extract(
    message: ExtractionInput,
    *,
    already_said: Container[str] = frozenset(),
    lexicon: ValenceLexicon | None = None,
) -> Extraction:
    """The memory items of a message; none when it is junk or an exact repeat.

    `already_said` holds the fingerprints of what this speaker said before in the conversation.
    """
    gated = gate(message.content)
    if not gated.content:
        return Extraction((), gated.left_out)
    if fingerprint(message.content) in already_said:
        return Extraction((), ("repeat",))
    return Extraction(tuple(items(message, gated, lexicon)), gated.left_out)


def items(
    message: ExtractionInput, gated: GateResult, lexicon: ValenceLexicon | None
) -> Iterator[Extracted]:
    """The items of what the gate lets through: the episodes, the statements, a feeling."""
    yield from episodes(message, gated.content)
    language_name = language_of(gated.content)
    if language := load_language(language_name):
        for statement in statements(gated.kept, message.speaker, language):
            # Instructions are for the persona: what it tells people to do is none.
            if statement.kind == "instruction" and message.role != "user":
                continue
            yield Extracted(MemoryType.SEMANTIC, statement.text, statement.as_content())
    if language_name == ENGLISH and (felt := strongest_feeling(gated.kept, lexicon=lexicon)):
        yield somatic(message, felt)


def episodes(message: ExtractionInput, content: str) -> Iterator[Extracted]:
    """The event of saying it, in the message's own words: one item, or one for each passage.

    `content` is what the gate lets through. The passages of a long message are cut from the message
    as it was sent, so that their positions are places in it; those that are junk are left out.
    """
    spans = split_passages(message.content)
    if len(spans) == 1:
        yield episode(message, content)
        return
    for number, span in enumerate(spans, start=1):
        said = without_unprintable(message.content[span.start : span.end]).strip()
        if not is_junk(said):
            place = {"number": number, "of": len(spans), "start": span.start, "end": span.end}
            yield episode(message, said, passage=place)


def is_junk(passage: str) -> bool:
    """Whether a passage says nothing: no words, or only what the gate cuts off."""
    if len(passage) <= MAX_JUNK_CHARACTERS:
        return not gate(passage).content
    return not fingerprint(passage)


def episode(
    message: ExtractionInput, said: str, *, passage: dict[str, int] | None = None
) -> Extracted:
    """The item of what was said, or of one passage of it."""
    content: dict[str, Any] = {
        "who": message.speaker,
        "said": said,
        "when": message.said_at.isoformat(),
        "where": message.conversation,
    }
    if passage:
        content["passage"] = passage
    return Extracted(MemoryType.EPISODIC, f"{message.speaker}: {said}", content)


def somatic(message: ExtractionInput, felt: Feeling) -> Extracted:
    """The feeling of a message as an item: how the speaker sounded, and about what."""
    about = MY_AT_START.sub("their", felt.about)
    return Extracted(
        MemoryType.SOMATIC,
        f"{message.speaker} sounded {felt.tone}"
        + (f" when talking about {about}." if about else "."),
        {
            "who": message.speaker,
            "valence": felt.valence,
            "arousal": felt.arousal,
            "tone": str(felt.tone),
        },
    )
