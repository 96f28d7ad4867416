"""From a message to memory candidates, without a language model.

Pure functions over values: the gate keeps junk out, then one episodic item keeps what was said, the
statements in it become semantic items, and a marked feeling a somatic one. The rules know English;
any other language is remembered as it was said.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.extraction.feelings import Feeling, ValenceLexicon, strongest_feeling
from engine.extraction.gate import GateResult, gate
from engine.extraction.statements import OPPOSITES, SINGLE_VALUED, is_single_valued, statements
from engine.models import MemoryType
from engine.text import fingerprint, is_english

__all__ = [
    "OPPOSITES",
    "SINGLE_VALUED",
    "Extracted",
    "Extraction",
    "ExtractionInput",
    "MemoryType",
    "extract",
    "fingerprint",
    "is_single_valued",
]


OWN = re.compile(r"^(?:my|our)\b")


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
    said: ExtractionInput,
    *,
    already_said: Container[str] = frozenset(),
    lexicon: ValenceLexicon | None = None,
) -> Extraction:
    """The memory items of a message; none when it is junk or an exact repeat.

    `already_said` holds the fingerprints of what this speaker said before in the conversation.
    """
    gated = gate(said.content)
    if not gated.content:
        return Extraction((), gated.left_out)
    if fingerprint(said.content) in already_said:
        return Extraction((), ("repeat",))
    return Extraction(tuple(items(said, gated, lexicon)), gated.left_out)


def items(
    said: ExtractionInput, gated: GateResult, lexicon: ValenceLexicon | None
) -> Iterator[Extracted]:
    yield episode(said, gated.content)
    if not is_english(gated.content):
        return
    for statement in statements(gated.kept, said.speaker):
        yield Extracted(MemoryType.SEMANTIC, statement.text, statement.as_content())
    if felt := strongest_feeling(gated.kept, lexicon=lexicon):
        yield somatic(said, felt)


def episode(said: ExtractionInput, content: str) -> Extracted:
    """The event of saying it, in the message's own words."""
    return Extracted(
        MemoryType.EPISODIC,
        f"{said.speaker}: {content}",
        {
            "who": said.speaker,
            "said": content,
            "when": said.said_at.isoformat(),
            "where": said.conversation,
        },
    )


def somatic(said: ExtractionInput, felt: Feeling) -> Extracted:
    about = OWN.sub("their", felt.about)
    return Extracted(
        MemoryType.SOMATIC,
        f"{said.speaker} sounded {felt.tone}" + (f" when talking about {about}." if about else "."),
        {
            "who": said.speaker,
            "valence": felt.valence,
            "arousal": felt.arousal,
            "tone": str(felt.tone),
        },
    )
