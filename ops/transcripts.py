"""Conversations from files: what simulations and benchmarks are made of.

A file has one JSON object a line: {"conversation", "speakers": [a, b], "turns": [{"id", "datetime",
"speaker", "text"}]}, such as LoCoMo's or BEAM's, which cannot be shipped here. What a turn with the
"role" of "persona" says is the persona's; all others are said by users.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from engine.talk import Message, Speaker


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said in a conversation, as its file has it."""

    message_id: str
    role: Speaker
    speaker: str
    content: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Transcript:
    """All turns of one conversation, in the order they were said."""

    name: str
    speakers: Sequence[str]
    turns: list[Turn]

    @property
    def days(self) -> Iterator[tuple[datetime, list[Turn]]]:
        """Midnight of each day that has turns, with its turns."""
        for _, group in groupby(self.turns, key=lambda turn: turn.said_at.date()):
            turns = list(group)
            yield turns[0].said_at.replace(hour=0, minute=0, second=0, microsecond=0), turns

    def as_message(self, turn: Turn, conversation_id: str, persona_id: str) -> Message:
        """A turn as a message to, or of, a persona."""
        is_user = turn.role is Speaker.USER
        user_id = "second" if turn.speaker == self.speakers[-1] else "first"
        return Message(
            message_id=turn.message_id,
            conversation_id=conversation_id,
            persona_id=persona_id,
            role=turn.role,
            content=turn.content,
            timestamp=turn.said_at,
            speaker=turn.speaker if is_user else None,
            user_id=user_id if is_user else None,
        )


def read_transcripts(file: Path) -> list[Transcript]:
    """Every conversation of a file."""
    return [as_transcript(json.loads(line)) for line in file.read_text().splitlines()]


def as_transcript(conversation: dict[str, Any]) -> Transcript:
    name = conversation["conversation"]
    turns = [as_turn(name, index, turn) for index, turn in enumerate(conversation["turns"])]
    turns.sort(key=lambda turn: turn.said_at)
    return Transcript(name, conversation["speakers"], turns)


def as_turn(name: str, index: int, turn: dict[str, Any]) -> Turn:
    """A turn. Those of a session share one time; a second each keeps their order."""
    said_at = datetime.fromisoformat(turn["datetime"]).replace(tzinfo=UTC)
    return Turn(
        message_id=f"{name}.{turn['id']}",
        role=Speaker(turn.get("role", "user")),
        speaker=turn["speaker"],
        content=turn["text"],
        said_at=said_at + timedelta(seconds=index),
    )
