"""What fits into a budget of tokens, and what is told of what did not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from engine.errors import Invalid
from engine.recall.recall import Hit


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of what a persona is handed, and where it came from."""

    layer: str
    content: str
    tokens: int = 0
    role: str | None = None  # user, persona, or system for what stands in for others
    speaker: str | None = None
    said_at: datetime | None = None
    message_id: str | None = None
    memory_id: str | None = None
    checkpoint_id: str | None = None
    score: float | None = None  # of what was asked for; what stands there unasked has none
    deprioritized: bool = False  # somebody asked to forget it; only when nothing else came up
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A piece there was no room for."""

    layer: str
    tokens: int
    message_id: str | None
    memory_id: str | None
    checkpoint_id: str | None


Unit = tuple[Piece, ...]  # stands together or not at all


@dataclass(slots=True)
class LayerPieces:
    """One layer's candidates, the most wanted first, and what of them was taken."""

    units: Sequence[Unit]
    in_a_row: bool = False  # nothing is taken beyond what does not fit
    taken: set[int] = field(default_factory=set)

    def fill(self, room: int) -> int:
        """Take what fits. Returns how many tokens that was."""
        used = 0
        for place, unit in enumerate(self.units):
            if place in self.taken:
                continue
            size = sum(piece.tokens for piece in unit)
            if used + size <= room:
                self.taken.add(place)
                used += size
            elif self.in_a_row:
                break
        return used

    @property
    def kept(self) -> list[Unit]:
        return [unit for place, unit in enumerate(self.units) if place in self.taken]

    @property
    def left_out(self) -> Iterable[Piece]:
        for place, unit in enumerate(self.units):
            if place not in self.taken:
                yield from unit


def fill(budget: int, identity: Unit, piles: Mapping[str, tuple[float, LayerPieces]]) -> None:
    """Fill every layer up to its share of what the identity leaves, then what is left of all."""
    room = room_beside(budget, identity)
    left = room
    for share, pile in piles.values():
        left -= pile.fill(min(left, int(room * share)))
    for _, pile in piles.values():
        left -= pile.fill(left)


def room_beside(budget: int, identity: Unit) -> int:
    """What a persona's identity, which is always whole, leaves of a budget."""
    needed = sum(piece.tokens for piece in identity)
    if needed > budget:
        raise Invalid(f"The identity alone needs {needed} tokens, and the budget is {budget}.")
    return budget - needed


def left_out(piles: Iterable[LayerPieces]) -> list[LeftOut]:
    return [
        LeftOut(it.layer, it.tokens, it.message_id, it.memory_id, it.checkpoint_id)
        for pile in piles
        for it in pile.left_out
    ]


def piece_from_hit(layer: str, hit: Hit) -> Piece:
    """A hit as a piece of a layer."""
    return Piece(
        layer,
        hit.text,
        hit.token_estimate,
        said_at=hit.said_at,
        memory_id=hit.id,
        score=hit.score,
        deprioritized=hit.deprioritized,
        hint=hit.hint,
    )
