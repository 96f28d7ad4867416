"""Working memory: the last turns of a conversation, as a context shows them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from engine.embedding import estimate_tokens
from engine.models import Passage, Row
from engine.recall.budget import Piece, Unit
from engine.text import split_passages

PLACEHOLDER = "[prior exchange deprioritized by user]"
WORKING = "working"


def working_memory(messages: Sequence[Row]) -> Iterator[Unit]:
    """The unflagged messages, oldest first.

    A placeholder goes before a message that depends on the flagged ones before it.
    """
    skipped: list[Row] = []  # the flagged messages right before the next unflagged one
    for message in messages:
        if message["flagged"]:
            skipped.append(message)
            continue
        turn = Piece(
            WORKING,
            message["content"],
            role=message["role"],
            speaker=message["speaker"] or message["user_id"],
            said_at=message["said_at"],
            message_id=message["id"],
        )
        if skipped and depends_on(message, skipped):
            yield Piece(WORKING, PLACEHOLDER, role="system"), turn
        else:
            yield (turn,)
        skipped = []


def depends_on(message: Row, skipped: Sequence[Row]) -> bool:
    """Whether a message replies to a skipped one, or has another role than the last of them."""
    is_reply = message["reply_to"] in {other["id"] for other in skipped}
    return bool(is_reply or message["role"] != skipped[-1]["role"])


def shortened(unit: Unit, max_tokens: int) -> Unit:
    """A turn as it is shown: of one that is too long for working memory, its first passage.

    Recall finds its other passages when they bear on the question.
    """
    *before, turn = unit
    if estimate_tokens(turn.content) <= max_tokens:
        return unit
    first, *others = split_passages(turn.content)
    if not others:
        return unit
    place = Passage(1, 1 + len(others), first.start, first.end)
    return *before, replace(turn, content=turn.content[: first.end].rstrip(), passage=place)


def is_shown(
    source_id: str | None, passage: Passage | None, shown: Mapping[str, Passage | None]
) -> bool:
    """Whether what was drawn from a message is shown already: the message whole, or its beginning.

    `shown` has the passage that is shown of each message; None when it is shown whole.
    """
    if source_id is None or source_id not in shown:
        return False
    beginning = shown[source_id]
    return beginning is None or (passage is not None and passage.number == beginning.number)
