"""Fills a token budget with pieces of context, and lists what was left out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from engine.embedding import estimate_tokens
from engine.errors import Invalid
from engine.models import Passage, Row
from engine.recall.recall import Hit


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a persona's context, and where it came from."""

    layer: str
    content: str
    tokens: int = 0
    role: str | None = None  # user, persona, or system
    speaker: str | None = None
    said_at: datetime | None = None
    message_id: str | None = None
    memory_id: str | None = None
    passage: Passage | None = None  # the part of a long message that it is
    checkpoint_id: str | None = None
    score: float | None = None  # of a recall's hits alone
    relearnable: int = 0  # of a forgotten shape: archived memories that relearning it brings back
    deprioritized: bool = False  # flagged; returned only when nothing else matches
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A piece that did not fit into the budget."""

    layer: str
    tokens: int
    message_id: str | None
    memory_id: str | None
    checkpoint_id: str | None


Unit = tuple[Piece, ...]  # taken together or not at all


@dataclass(slots=True)
class LayerPieces:
    """The units a layer could hold, most important first, and which of them were taken."""

    units: Sequence[Unit]
    contiguous: bool = False  # stop at the first unit that does not fit
    taken: set[int] = field(default_factory=set)  # indices of units

    def fill(self, room: int) -> int:
        """Take the units that fit into `room` tokens. Returns how many tokens they use."""
        used = 0
        for index, unit in enumerate(self.units):
            if index in self.taken:
                continue
            size = sum(piece.tokens for piece in unit)
            if used + size <= room:
                self.taken.add(index)
                used += size
            elif self.contiguous:
                break
        return used

    @property
    def kept(self) -> list[Unit]:
        return [unit for index, unit in enumerate(self.units) if index in self.taken]

    @property
    def left_out(self) -> Iterable[Piece]:
        for index, unit in enumerate(self.units):
            if index not in self.taken:
                yield from unit


def fill_layers(
    budget: int, identity: Unit, layers: Mapping[str, tuple[float, LayerPieces]]
) -> None:
    """Fill each layer up to its share of the room, then give the unused room to all in turn."""
    room = room_after_identity(budget, identity)
    remaining = room
    for share, layer in layers.values():
        remaining -= layer.fill(min(remaining, int(room * share)))
    for _, layer in layers.values():
        remaining -= layer.fill(remaining)


def room_after_identity(budget: int, identity: Unit) -> int:
    """The tokens of a budget that remain after the identity, which is never cut."""
    needed = sum(piece.tokens for piece in identity)
    if needed > budget:
        raise Invalid(f"The identity alone needs {needed} tokens, and the budget is {budget}.")
    return budget - needed


def list_left_out(layers: Iterable[LayerPieces]) -> list[LeftOut]:
    """The pieces of all layers that did not fit."""
    return [
        LeftOut(piece.layer, piece.tokens, piece.message_id, piece.memory_id, piece.checkpoint_id)
        for layer in layers
        for piece in layer.left_out
    ]


def piece_from_hit(layer: str, hit: Hit) -> Piece:
    """A recall's hit as a piece of a layer."""
    return Piece(
        layer,
        hit.text,
        hit.token_estimate,
        said_at=hit.said_at,
        memory_id=hit.id,
        passage=hit.passage,
        score=hit.score,
        relearnable=hit.relearnable,
        deprioritized=hit.deprioritized,
        hint=hit.hint,
    )


def piece_from_memory(layer: str, memory: Row) -> Piece:
    """A memory that was not asked for as a piece of a layer."""
    return Piece(
        layer,
        memory["text"],
        memory["token_estimate"] or estimate_tokens(memory["text"]),
        said_at=memory["said_at"],
        memory_id=memory["id"],
        passage=Passage.stored(memory["passage"]),
        relearnable=memory["shape_memories"] or 0,
    )
