"""What a persona is handed before it answers: four layers, inside a budget of tokens.

Who it is; what the talk is about; what was said last; and what it remembers of it. Each piece says
where it came from. The same state gives the same context.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from engine.budget import LeftOut, Piece, Pile, Unit, fill, left_out, remembered
from engine.embedding import Embedder
from engine.errors import ConversationNotFound, PersonaNotFound
from engine.graph import Graph, Row
from engine.models import Caller, MemoryType
from engine.recall import Hit, Recall, Recalled

PLACEHOLDER = "[prior exchange deprioritized by user]"
BEYOND = 4  # times as many turns are looked at as are wanted, since flagged ones are skipped
CHECKPOINTS = 12  # of a conversation, that are looked at
SUMMARIES = 5  # of them, told at most
FACTS = 5  # that are told beside the topic
LOOKED_AT = 50  # hits, of which facts and memories are taken

IDENTITY, TOPIC, WORKING, COLD = "identity", "topic", "working", "cold"
# Of what the identity leaves, at first; what one layer leaves goes to the others.
SHARES = {TOPIC: 0.15, WORKING: 0.5, COLD: 0.35}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be assembled."""

    conversation_id: str
    query: str | None = None  # without one, what somebody said last
    budget: int = 4000
    turns: int = 20
    memories: int = 10


@dataclass(frozen=True, slots=True)
class Context:
    """What a persona should have in mind."""

    persona_id: str
    conversation_id: str
    pieces: list[Piece]  # layer by layer; turns from the oldest on, memories from the best on
    tokens: int
    budget: int
    left_out: list[LeftOut]  # for want of room
    flagged: int  # turns that were skipped among those that were looked at
    recall_id: str | None  # of the recall behind it; none when there was nothing to ask
    fallback: bool  # nothing but what was set aside came up


async def assemble_context(
    graph: Graph,
    recall: Recall,
    embedder: Embedder,
    caller: Caller,
    persona_id: str,
    wanted: Wanted,
    *,
    now: datetime,
) -> Context:
    """The four layers, as far as the budget goes."""

    async def ask(query: str, asked_by: str | None) -> Recalled:
        return await recall.recall(
            caller.tenant_id,
            persona_id,
            query,
            now=now,
            limit=LOOKED_AT,
            asked_by=asked_by,
            facts_apart=True,
        )

    reading = read_scene(graph, caller, persona_id, wanted)
    recalled: Recalled | None = None
    if wanted.query:
        scene, recalled = await asyncio.gather(reading, ask(wanted.query, None))
    else:
        scene = await reading
        last = next(
            (it for it in scene["turns"] if it["role"] == "user" and not it["flagged"]), None
        )
        recalled = await ask(last["content"], last["speaker"]) if last else None

    said = scene["turns"][::-1]
    shown = list(working_memory(said))[-wanted.turns :]
    told = [it for it in scene["checkpoints"] if not it["muted"]]
    facts, memories = sorted_out(recalled.hits if recalled else [], shown)
    layers: dict[str, list[Unit]] = {
        IDENTITY: [(Piece(IDENTITY, scene["identity"], role="system"),)]
        if scene["identity"]
        else [],
        TOPIC: [*topic(told[:1]), *((remembered(TOPIC, it),) for it in facts)],
        WORKING: shown[::-1],
        COLD: [
            *((remembered(COLD, it),) for it in memories[: wanted.memories]),
            *summaries(told, before=shown[0][-1].said_at if shown else None),
        ],
    }
    sized = dict(zip(layers, await measure(embedder, list(layers.values())), strict=True))
    identity = tuple(piece for unit in sized[IDENTITY] for piece in unit)
    piles = {
        layer: (share, Pile(sized[layer], in_a_row=layer == WORKING))
        for layer, share in SHARES.items()
    }
    fill(wanted.budget, identity, piles)
    pieces = [*identity, *laid_out(piles)]
    return Context(
        persona_id,
        wanted.conversation_id,
        pieces,
        tokens=sum(piece.tokens for piece in pieces),
        budget=wanted.budget,
        left_out=left_out(pile for _, pile in piles.values()),
        flagged=sum(message["flagged"] for message in said),
        recall_id=recalled.recall_id if recalled else None,
        fallback=bool(recalled and recalled.fallback),
    )


async def read_scene(graph: Graph, caller: Caller, persona_id: str, wanted: Wanted) -> Row:
    found = await graph.read(
        "context/read_scene",
        tenant_id=caller.tenant_id,
        conversation_id=wanted.conversation_id,
        persona_id=persona_id,
        user_id=caller.sees_as,
        turns=wanted.turns * BEYOND,
        checkpoints=CHECKPOINTS,
    )
    if not found:
        raise ConversationNotFound(wanted.conversation_id)
    (scene,) = found
    if not scene["is_there"]:
        raise PersonaNotFound(persona_id)
    return scene


def working_memory(said: Sequence[Row]) -> Iterator[Unit]:
    """What was said, without what is flagged; one placeholder where the next turn leans on it."""
    for before, message in pairwise([None, *said]):
        if message is None or message["flagged"]:
            continue
        turn = Piece(
            WORKING,
            message["content"],
            role=message["role"],
            speaker=message["speaker"] or message["user_id"],
            said_at=message["said_at"],
            message_id=message["id"],
        )
        if before and before["flagged"] and leans_on(message, before):
            yield Piece(WORKING, PLACEHOLDER, role="system"), turn
        else:
            yield (turn,)


def leans_on(message: Row, before: Row) -> bool:
    """Whether a turn answers the one before it: the other role, or a reply to it."""
    return bool(message["role"] != before["role"] or message["reply_to"] == before["id"])


def sorted_out(hits: Sequence[Hit], shown: Sequence[Unit]) -> tuple[list[Hit], list[Hit]]:
    """Facts, and what else is remembered, but for what the turns that are shown say."""
    moments = {unit[-1].said_at for unit in shown}
    new = [it for it in hits if it.said_at not in moments]
    facts = [it for it in new if it.memory_type is MemoryType.SEMANTIC][:FACTS]
    return facts, [it for it in new if it not in facts]


def topic(newest: Sequence[Row]) -> Iterator[Unit]:
    """What the talk is about now, if that has a name yet."""
    for it in newest:
        if it["label"]:
            yield (Piece(TOPIC, it["label"], said_at=it["from_at"], checkpoint_id=it["id"]),)


def summaries(told: Sequence[Row], before: datetime | None) -> list[Unit]:
    """What was talked of before the turns that are shown, the newest first."""
    over = [it for it in told if it["summary"] and before and it["from_at"] < before]
    return [
        (Piece(COLD, it["summary"], said_at=it["from_at"], checkpoint_id=it["id"]),)
        for it in over[:SUMMARIES]
    ]


async def measure(embedder: Embedder, layers: Sequence[Sequence[Unit]]) -> list[list[Unit]]:
    """The same units, each piece with how many tokens it is."""
    contents = [piece.content for units in layers for unit in units for piece in unit]
    counts = iter(await embedder.count(contents))
    return [
        [tuple(replace(piece, tokens=next(counts)) for piece in unit) for unit in units]
        for units in layers
    ]


def laid_out(piles: dict[str, tuple[float, Pile]]) -> Iterator[Piece]:
    """What was taken, as it is read: turns and summaries in the order of time."""
    for layer, (_, pile) in piles.items():
        kept = [piece for unit in pile.kept for piece in unit]
        if layer == WORKING:
            kept = [piece for unit in reversed(pile.kept) for piece in unit]
        summed_up = [it for it in kept if layer == COLD and it.checkpoint_id]
        yield from reversed(summed_up)
        yield from (it for it in kept if it not in summed_up)
