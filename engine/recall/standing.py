"""Standing instructions and preferences: which of those that hold a context is given."""

from collections.abc import Sequence, Set
from itertools import chain, islice

from engine.models import Row
from engine.recall.budget import Piece, piece_from_hit
from engine.recall.recall import Hit
from engine.recall.tables import STANDING

MAX_STANDING = 10  # in every context, and in hydration
MAX_STANDING_READ = 30  # from which these are taken, those that recall found first


def split_standing(
    standing: Sequence[Row], hits: Sequence[Hit], sources: Set[str], *, layer: str
) -> tuple[list[Piece], list[Hit]]:
    """The instructions and preferences of a context, and the hits without them.

    Those that recall found come first, then the rest as given; not those drawn from the messages in
    `sources`. One that recall found and that does not hold any more is in neither.
    """
    held = {item["id"]: item for item in standing if item["source_id"] not in sources}
    found = {hit.id: piece_from_hit(layer, hit) for hit in hits if hit.id in held}
    unasked = (
        Piece(layer, item["text"], said_at=item["said_at"], memory_id=item["id"])
        for item in held.values()
        if item["id"] not in found
    )
    pieces = list(islice(chain(found.values(), unasked), MAX_STANDING))
    taken = {piece.memory_id for piece in pieces}
    # Of a longer list the rest was not read: what recall found may still hold.
    ended = STANDING if len(standing) < MAX_STANDING_READ else ()
    holding = {item["id"] for item in standing}
    others = [
        hit
        for hit in hits
        if hit.id not in taken
        and (hit.category not in ended or hit.deprioritized or hit.id in holding)
    ]
    return pieces, others
