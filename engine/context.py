"""What a persona is handed before it answers: so far, what was said last and is not flagged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from engine.conversations import get_conversation
from engine.errors import PersonaNotFound
from engine.graph import Graph, Row
from engine.models import Caller

PLACEHOLDER = "[prior exchange deprioritized by user]"
BEYOND = 4  # times as many turns are looked at as are wanted, since flagged ones are skipped


@dataclass(frozen=True, slots=True)
class Turn:
    """One piece of context: something that was said, or what stands in for it."""

    role: str  # user, persona, or system for what stands in
    content: str
    message_id: str | None
    said_at: datetime | None
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """The working memory of a persona in a conversation, the oldest turn first."""

    persona_id: str
    conversation_id: str
    turns: list[Turn]
    left_out: int  # flagged turns among those that were looked at


async def assemble_context(
    graph: Graph, caller: Caller, persona_id: str, conversation_id: str, *, turns: int
) -> Context:
    """The last turns that are not flagged, as they were said."""
    conversation = await get_conversation(graph, caller, conversation_id)
    if persona_id not in conversation.persona_ids:
        raise PersonaNotFound(persona_id)
    rows = await graph.read(
        "context/list_turns",
        tenant_id=caller.tenant_id,
        conversation_id=conversation_id,
        persona_id=persona_id,
        limit=turns * BEYOND,
    )
    said = [row["message"] for row in reversed(rows)]
    shown = list(working_memory(said))
    return Context(
        persona_id,
        conversation_id,
        shown[-turns:],
        sum(message["flagged"] for message in said),
    )


def working_memory(said: Sequence[Row]) -> Iterator[Turn]:
    """What was said, without what is flagged; one placeholder where the next turn leans on it."""
    for before, message in pairwise([None, *said]):
        if message is None or message["flagged"]:
            continue
        if before and before["flagged"] and leans_on(message, before):
            yield Turn("system", PLACEHOLDER, None, None)
        yield Turn(
            message["role"],
            message["content"],
            message["id"],
            message["said_at"],
            message["speaker"] or message["user_id"],
        )


def leans_on(message: Row, before: Row) -> bool:
    """Whether a turn answers the one before it: the other role, or a reply to it."""
    return bool(message["role"] != before["role"] or message["reply_to"] == before["id"])
