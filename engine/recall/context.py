"""Assembles a persona's context: four layers of pieces within a token budget.

Identity; topic of the conversation; working memory, which is the last turns; and cold memory, which
is what recall finds. Each piece says where it came from. The same state gives the same context.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from engine.access import Caller
from engine.embedding import Embedder
from engine.errors import ConversationNotFound, PersonaNotFound
from engine.models import MemoryType, Passage, Row
from engine.recall.budget import (
    LayerPieces,
    LeftOut,
    Piece,
    Unit,
    fill_layers,
    list_left_out,
    piece_from_hit,
    piece_from_memory,
)
from engine.recall.recall import Hit, Recall, RecallResult
from engine.recall.standing import MAX_STANDING_READ, split_standing
from engine.recall.working_memory import WORKING, is_shown, shortened, working_memory
from engine.store import Graph

TURNS_READ_PER_WANTED = 4  # more turns are read than wanted, because flagged ones are skipped
TURN_PAGE_SIZE = 500  # turns read at a time while too few are unflagged
MAX_TURNS_READ = 10_000
MAX_PINNED = 10  # pinned memories in every context
MAX_CHECKPOINTS = 12  # of a conversation that are considered for summaries
MAX_SUMMARIES = 5
MAX_FACTS = 5  # in the topic layer
MAX_HITS = 50  # of the recall, from which facts and memories are taken

IDENTITY, TOPIC, COLD = "identity", "topic", "cold"
# Shares of the budget after the identity. What one layer does not use goes to the others.
SHARES = {TOPIC: 0.15, WORKING: 0.5, COLD: 0.35}


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What a context is assembled for, and its limits."""

    conversation_id: str
    query: str | None = None  # without one, the user's last unflagged message
    budget: int = 4000
    turns: int = 20
    memories: int = 10


@dataclass(frozen=True, slots=True)
class Context:
    """What a persona should have in mind before it answers."""

    persona_id: str
    conversation_id: str
    pieces: list[Piece]  # layer by layer; turns oldest first, memories best first
    tokens: int
    budget: int
    left_out: list[LeftOut]  # did not fit into the budget
    flagged: int  # turns that were read and skipped
    recall_id: str | None  # None when there was nothing to ask
    fallback: bool  # only flagged memories matched


@dataclass(frozen=True, slots=True)
class ConversationState:
    """What is stored about a conversation, as far as a context needs it."""

    identity: str | None  # of the persona
    topic: Row | None  # the newest checkpoint
    turns: list[Row]  # newest first
    pinned: list[Row]
    checkpoints: list[Row]  # newest first
    standing: list[Row]  # instructions, then preferences, newest first

    @property
    def last_user_turn(self) -> Row | None:
        return next(
            (turn for turn in self.turns if turn["role"] == "user" and not turn["flagged"]), None
        )


async def assemble_context(
    graph: Graph,
    recall: Recall,
    embedder: Embedder,
    caller: Caller,
    persona_id: str,
    request: ContextRequest,
    *,
    now: datetime,
) -> Context:
    """The four layers, as far as the budget goes."""
    reader = ContextReader(graph, recall, caller, persona_id, request, now)
    state, recalled = await reader.read_and_recall()
    recent = await reader.recent_memories() if recalled is None else []
    layers = build_layers(state, recalled.hits if recalled else [], recent, request)
    layers = await count_layer_tokens(embedder, layers)

    identity = tuple(piece for unit in layers[IDENTITY] for piece in unit)
    filled = {
        layer: (share, LayerPieces(layers[layer], contiguous=layer == WORKING))
        for layer, share in SHARES.items()
    }
    fill_layers(request.budget, identity, filled)
    pieces = [*identity, *in_reading_order(filled)]
    return Context(
        persona_id,
        request.conversation_id,
        pieces,
        tokens=sum(piece.tokens for piece in pieces),
        budget=request.budget,
        left_out=list_left_out(layer for _, layer in filled.values()),
        flagged=sum(turn["flagged"] for turn in state.turns),
        recall_id=recalled.recall_id if recalled else None,
        fallback=bool(recalled and recalled.fallback),
    )


@dataclass(frozen=True, slots=True)
class ContextReader:
    """Reads from the graph what one context is made of."""

    graph: Graph
    recall: Recall
    caller: Caller
    persona_id: str
    request: ContextRequest
    now: datetime

    async def read_and_recall(self) -> tuple[ConversationState, RecallResult | None]:
        """The conversation, and what the query recalls; at the same time when the query is given.

        Without a query the user's last message is asked; without that, nothing.
        """
        if self.request.query:
            return await asyncio.gather(self.read_state(), self.ask(self.request.query, None))
        state = await self.read_state()
        last = state.last_user_turn
        return state, await self.ask(last["content"], last["speaker"]) if last else None

    async def ask(self, query: str, asked_by: str | None) -> RecallResult:
        return await self.recall.recall(
            self.caller.tenant_id,
            self.persona_id,
            query,
            now=self.now,
            limit=MAX_HITS,
            asked_by=asked_by,
            facts_apart=True,
        )

    async def read_state(self) -> ConversationState:
        """The conversation, with turns enough to show as many unflagged ones as are wanted."""
        first_page = self.request.turns * TURNS_READ_PER_WANTED
        rows = await self.graph.read(
            "recall/context/read_context",
            tenant_id=self.caller.tenant_id,
            conversation_id=self.request.conversation_id,
            persona_id=self.persona_id,
            **self.caller.visibility,
            turns=first_page,
            checkpoints=MAX_CHECKPOINTS,
            pinned=MAX_PINNED,
            standing=MAX_STANDING_READ,
            now=self.now,
        )
        if not rows:
            raise ConversationNotFound(self.request.conversation_id)
        (row,) = rows
        if not row["is_there"]:
            raise PersonaNotFound(self.persona_id)
        turns: list[Row] = row["turns"]
        has_more = len(turns) == first_page
        # One more than is shown, because the turn before the oldest decides about a placeholder.
        while (
            has_more
            and count_unflagged(turns) <= self.request.turns
            and len(turns) < MAX_TURNS_READ
        ):
            page = await self.turns_before(turns[-1])
            turns += page
            has_more = len(page) == TURN_PAGE_SIZE
        return ConversationState(
            row["identity"],
            row["topic"],
            turns,
            row["pinned"],
            row["checkpoints"],
            row["standing"],
        )

    async def turns_before(self, turn: Row) -> list[Row]:
        """A page of the turns before this one, newest first."""
        rows = await self.graph.read(
            "recall/context/list_turns",
            tenant_id=self.caller.tenant_id,
            conversation_id=self.request.conversation_id,
            persona_id=self.persona_id,
            before_said_at=turn["said_at"],
            before_arrival=turn["arrival"],
            limit=TURN_PAGE_SIZE,
        )
        return [row["message"] for row in rows]

    async def recent_memories(self) -> list[Row]:
        """The persona's newest memories, as many as are wanted."""
        if not self.request.memories:
            return []
        rows = await self.graph.read(
            "recall/hydration/list_recent",
            tenant_id=self.caller.tenant_id,
            persona_id=self.persona_id,
            now=self.now,
            limit=self.request.memories,
        )
        return [row["memory"] for row in rows]


def count_unflagged(turns: Sequence[Row]) -> int:
    return sum(not turn["flagged"] for turn in turns)


def build_layers(
    state: ConversationState, hits: Sequence[Hit], recent: Sequence[Row], request: ContextRequest
) -> dict[str, list[Unit]]:
    """The units of each layer, most important first, before any is cut."""
    turns = state.turns[::-1]
    max_tokens = int(request.budget * SHARES[WORKING])
    shown = [shortened(unit, max_tokens) for unit in list(working_memory(turns))[-request.turns :]]
    shown_pieces = {unit[-1].message_id: unit[-1] for unit in shown}
    # Memories of messages that are shown would only repeat them.
    shown_sources = {
        turn["source_id"]: shown_pieces[turn["id"]].passage
        for turn in turns
        if turn["id"] in shown_pieces
    }
    whole_sources = {source_id for source_id, passage in shown_sources.items() if passage is None}
    standing, other_hits = split_standing(state.standing, hits, whole_sources, layer=TOPIC)
    standing_ids = {piece.memory_id for piece in standing}
    facts, memories = split_facts(other_hits, shown_sources)
    memories = memories[: request.memories]
    unasked = [
        memory
        for memory in [*state.pinned, *recent]
        if memory["id"] not in standing_ids
        and not is_shown(memory["source_id"], Passage.stored(memory["passage"]), shown_sources)
    ]
    return {
        IDENTITY: [(Piece(IDENTITY, state.identity, role="system"),)] if state.identity else [],
        TOPIC: [
            *topic_units(state.topic),
            *((piece,) for piece in standing),
            *((piece_from_hit(TOPIC, hit),) for hit in facts),
        ],
        WORKING: shown[::-1],
        COLD: [
            *unasked_units(unasked, {hit.id for hit in [*facts, *memories]}),
            *((piece_from_hit(COLD, hit),) for hit in memories),
            *summary_units(state.checkpoints, shown),
        ],
    }


def unasked_units(memories: Sequence[Row], hit_ids: set[str]) -> Iterator[Unit]:
    """Memories that are in the context whatever is asked, each once, unless recall found them."""
    for memory in {memory["id"]: memory for memory in memories}.values():
        if memory["id"] not in hit_ids:
            yield (piece_from_memory(COLD, memory),)


def split_facts(
    hits: Sequence[Hit], shown: Mapping[str, Passage | None]
) -> tuple[list[Hit], list[Hit]]:
    """The best facts, and all other hits, without those of messages that are shown."""
    new = [hit for hit in hits if not is_shown(hit.source_message_id, hit.passage, shown)]
    facts = [hit for hit in new if hit.memory_type is MemoryType.SEMANTIC][:MAX_FACTS]
    return facts, [hit for hit in new if hit not in facts]


def topic_units(checkpoint: Row | None) -> Iterator[Unit]:
    """The label of the newest checkpoint, as far as unflagged messages use its terms.

    The stored label stays as it was made, so that people find their way. A persona gets only the
    terms that an unflagged message contains.
    """
    if checkpoint is None or not checkpoint["label"]:
        return
    label, unflagged_texts = checkpoint["label"], checkpoint["unflagged_texts"]
    if unflagged_texts is not None:
        terms = [term for term in label.split(", ") if is_mentioned(term, unflagged_texts)]
        label = ", ".join(terms)
    if label:
        label = label[0].upper() + label[1:]
        yield (Piece(TOPIC, label, said_at=checkpoint["from_at"], checkpoint_id=checkpoint["id"]),)


def is_mentioned(term: str, texts: Sequence[str]) -> bool:
    """Whether any text contains the words of a term, one after the other."""
    spaced = r"\s+".join(map(re.escape, term.split()))
    pattern = re.compile(rf"(?<!\w){spaced}(?!\w)", re.IGNORECASE)
    return any(pattern.search(text) for text in texts)


def summary_units(checkpoints: Sequence[Row], shown: Sequence[Unit]) -> list[Unit]:
    """Summaries of what was said before the shown turns, newest first, without what these say."""
    shown_from = shown[0][-1].said_at if shown else None
    shown_ids = {unit[-1].message_id for unit in shown}
    units: list[Unit] = []
    for checkpoint in checkpoints:
        from_at = checkpoint["from_at"]
        if checkpoint["muted"] or (shown_from and from_at >= shown_from):
            continue
        if len(units) == MAX_SUMMARIES:
            break
        sentences = [
            sentence["text"]
            for sentence in checkpoint["sentences"] or []
            if sentence["message_id"] not in shown_ids and sentence["text"]
        ]
        if sentences:
            summary = "\n".join(sentences)
            units.append((Piece(COLD, summary, said_at=from_at, checkpoint_id=checkpoint["id"]),))
    return units


async def count_layer_tokens(
    embedder: Embedder, layers: Mapping[str, Sequence[Unit]]
) -> dict[str, list[Unit]]:
    """The same layers, each piece with its number of tokens. One call for all of them."""
    contents = [piece.content for units in layers.values() for unit in units for piece in unit]
    counts = iter(await embedder.count_tokens(contents))
    return {
        layer: [tuple(replace(piece, tokens=next(counts)) for piece in unit) for unit in units]
        for layer, units in layers.items()
    }


def in_reading_order(layers: Mapping[str, tuple[float, LayerPieces]]) -> Iterator[Piece]:
    """The pieces that were taken, layer by layer; turns and summaries oldest first."""
    for name, (_, layer) in layers.items():
        units = layer.kept[::-1] if name == WORKING else layer.kept
        pieces = [piece for unit in units for piece in unit]
        summaries = [piece for piece in pieces if name == COLD and piece.checkpoint_id]
        yield from reversed(summaries)
        yield from (piece for piece in pieces if piece not in summaries)
