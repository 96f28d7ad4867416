"""What a persona is handed before it answers: four layers, inside a budget of tokens.

Who it is; what the talk is about; what was said last; and what it remembers of it. Each piece says
where it came from. The same state gives the same context.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime

from engine.access import Caller
from engine.embedding import Embedder
from engine.errors import ConversationNotFound, PersonaNotFound
from engine.models import MemoryType, Row
from engine.recall.budget import LayerPieces, LeftOut, Piece, Unit, fill, left_out, piece_from_hit
from engine.recall.recall import Hit, Recall, RecallResult
from engine.store import Graph

PLACEHOLDER = "[prior exchange deprioritized by user]"
BEYOND = 4  # times as many turns are looked at as are wanted, since flagged ones are skipped
FURTHER = 500  # turns looked at in one go, while too few of those before are unflagged
LOOKED_BACK = 10_000  # turns looked at in all
PINNED = 10  # memories that a persona never lets go of, told in every context
CHECKPOINTS = 12  # of a conversation, that are looked at
SUMMARIES = 5  # of them, told at most
FACTS = 5  # that are told beside the topic
LOOKED_AT = 50  # hits, of which facts and memories are taken

IDENTITY, TOPIC, WORKING, COLD = "identity", "topic", "working", "cold"
# Of what the identity leaves, at first; what one layer leaves goes to the others.
SHARES = {TOPIC: 0.15, WORKING: 0.5, COLD: 0.35}


@dataclass(frozen=True, slots=True)
class ContextRequest:
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
    wanted: ContextRequest,
    *,
    now: datetime,
) -> Context:
    """The four layers, as far as the budget goes."""

    async def ask(query: str, asked_by: str | None) -> RecallResult:
        return await recall.recall(
            caller.tenant_id,
            persona_id,
            query,
            now=now,
            limit=LOOKED_AT,
            asked_by=asked_by,
            facts_apart=True,
        )

    reading = read_scene(graph, caller, persona_id, wanted, now)
    recalled: RecallResult | None = None
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
    shown_ids = {unit[-1].message_id for unit in shown}
    sources = {message["source_id"] for message in said if message["id"] in shown_ids}
    facts, memories = split_facts(recalled.hits if recalled else [], sources)
    memories = memories[: wanted.memories]
    kept_in_mind = [
        memory
        for memory in scene["pinned"]
        + await unasked(graph, caller, persona_id, wanted, recalled, now)
        if memory["source_id"] not in sources
    ]
    layers: dict[str, list[Unit]] = {
        IDENTITY: [(Piece(IDENTITY, scene["identity"], role="system"),)]
        if scene["identity"]
        else [],
        TOPIC: [*topic(scene["topic"]), *((piece_from_hit(TOPIC, it),) for it in facts)],
        WORKING: shown[::-1],
        COLD: [
            *in_mind(kept_in_mind, {hit.id for hit in [*facts, *memories]}),
            *((piece_from_hit(COLD, it),) for it in memories),
            *summaries(scene["checkpoints"], shown),
        ],
    }
    sized = dict(zip(layers, await measure(embedder, list(layers.values())), strict=True))
    identity = tuple(piece for unit in sized[IDENTITY] for piece in unit)
    piles = {
        layer: (share, LayerPieces(sized[layer], in_a_row=layer == WORKING))
        for layer, share in SHARES.items()
    }
    fill(wanted.budget, identity, piles)
    pieces = [*identity, *in_reading_order(piles)]
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


async def read_scene(
    graph: Graph, caller: Caller, persona_id: str, wanted: ContextRequest, now: datetime
) -> Row:
    """Where a conversation stands, with as many turns as it takes to find enough unflagged ones."""
    first = wanted.turns * BEYOND
    found = await graph.read(
        "recall/context/read_context",
        tenant_id=caller.tenant_id,
        conversation_id=wanted.conversation_id,
        persona_id=persona_id,
        **caller.visibility,
        turns=first,
        checkpoints=CHECKPOINTS,
        pinned=PINNED,
        now=now,
    )
    if not found:
        raise ConversationNotFound(wanted.conversation_id)
    (scene,) = found
    if not scene["is_there"]:
        raise PersonaNotFound(persona_id)
    turns: list[Row] = scene["turns"]
    more = len(turns) == first
    # One more than is shown, since what stands before the oldest decides about a placeholder.
    while more and unflagged(turns) <= wanted.turns and len(turns) < LOOKED_BACK:
        rows = await graph.read(
            "recall/context/list_turns",
            tenant_id=caller.tenant_id,
            conversation_id=wanted.conversation_id,
            persona_id=persona_id,
            before_said_at=turns[-1]["said_at"],
            before_arrival=turns[-1]["arrival"],
            limit=FURTHER,
        )
        turns += [row["message"] for row in rows]
        more = len(rows) == FURTHER
    return scene


def unflagged(turns: Sequence[Row]) -> int:
    return sum(not message["flagged"] for message in turns)


async def unasked(
    graph: Graph,
    caller: Caller,
    persona_id: str,
    wanted: ContextRequest,
    recalled: RecallResult | None,
    now: datetime,
) -> list[Row]:
    """What a persona heard of last, when nothing could be asked; otherwise nothing."""
    if recalled is not None or not wanted.memories:
        return []
    rows = await graph.read(
        "recall/hydration/list_recent",
        tenant_id=caller.tenant_id,
        persona_id=persona_id,
        now=now,
        limit=wanted.memories,
    )
    return [row["memory"] for row in rows]


def in_mind(memories: Sequence[Row], told: set[str]) -> Iterator[Unit]:
    """Memories that stand in a context whatever is asked, each once. They have no score."""
    for memory in {memory["id"]: memory for memory in memories}.values():
        if memory["id"] not in told:
            yield (Piece(COLD, memory["text"], said_at=memory["said_at"], memory_id=memory["id"]),)


def working_memory(said: Sequence[Row]) -> Iterator[Unit]:
    """What was said, without what is flagged; one placeholder where the next turn leans on it."""
    skipped: list[Row] = []  # the run of flagged messages before the next turn
    for message in said:
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
        if skipped and leans_on(message, skipped):
            yield Piece(WORKING, PLACEHOLDER, role="system"), turn
        else:
            yield (turn,)
        skipped = []


def leans_on(message: Row, skipped: Sequence[Row]) -> bool:
    """Whether a turn answers the run before it: the other role than its last, or a reply to it."""
    replied_to = message["reply_to"] in {it["id"] for it in skipped}
    return bool(replied_to or message["role"] != skipped[-1]["role"])


def split_facts(hits: Sequence[Hit], sources: Set[str]) -> tuple[list[Hit], list[Hit]]:
    """Facts, and what else is remembered, but for what the turns that are shown say."""
    new = [hit for hit in hits if hit.source_message_id not in sources]
    facts = [hit for hit in new if hit.memory_type is MemoryType.SEMANTIC][:FACTS]
    return facts, [hit for hit in new if hit not in facts]


def topic(newest: Row | None) -> Iterator[Unit]:
    """What the talk is about now, if that has a name yet: in words of messages that are unflagged.

    The label of a checkpoint stays as it was made, for people to find their way; a model is told
    those of its terms that something unflagged says, too.
    """
    if newest is None or not newest["label"]:
        return
    label = newest["label"]
    if newest["heard"] is not None:
        terms = [term for term in label.split(", ") if said_in(term, newest["heard"])]
        label = ", ".join(terms)
    if label:
        label = label[0].upper() + label[1:]
        yield (Piece(TOPIC, label, said_at=newest["from_at"], checkpoint_id=newest["id"]),)


def said_in(term: str, texts: Sequence[str]) -> bool:
    """Whether any text has the words of a term, one after the other."""
    spaced = r"\s+".join(map(re.escape, term.split()))
    words = re.compile(rf"(?<!\w){spaced}(?!\w)", re.IGNORECASE)
    return any(words.search(text) for text in texts)


def summaries(checkpoints: Sequence[Row], shown: Sequence[Unit]) -> list[Unit]:
    """What was talked of before the shown turns, the newest first, but for what they say."""
    before = shown[0][-1].said_at if shown else None
    shown_ids = {unit[-1].message_id for unit in shown}
    found: list[Unit] = []
    for it in checkpoints:
        if it["muted"] or (before and it["from_at"] >= before):
            continue
        sentences = (it["sentences"] or []) if len(found) < SUMMARIES else []
        told = [one["text"] for one in sentences if one["message_id"] not in shown_ids]
        if any(told):
            summary = "\n".join(filter(None, told))
            found.append((Piece(COLD, summary, said_at=it["from_at"], checkpoint_id=it["id"]),))
    return found


async def measure(embedder: Embedder, layers: Sequence[Sequence[Unit]]) -> list[list[Unit]]:
    """The same units, each piece with how many tokens it is."""
    contents = [piece.content for units in layers for unit in units for piece in unit]
    counts = iter(await embedder.count(contents))
    return [
        [tuple(replace(piece, tokens=next(counts)) for piece in unit) for unit in units]
        for units in layers
    ]


def in_reading_order(piles: dict[str, tuple[float, LayerPieces]]) -> Iterator[Piece]:
    """What was taken, as it is read: turns and summaries in the order of time."""
    for layer, (_, pile) in piles.items():
        kept = [piece for unit in pile.kept for piece in unit]
        if layer == WORKING:
            kept = [piece for unit in reversed(pile.kept) for piece in unit]
        summed_up = [it for it in kept if layer == COLD and it.checkpoint_id]
        yield from reversed(summed_up)
        yield from (it for it in kept if it not in summed_up)
