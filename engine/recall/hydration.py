"""What a persona wakes up with: who it is, what it holds on to, and what it heard last.

Nothing of this was asked for, so none of it counts as used.
"""

import asyncio
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any

from engine.access import get_persona
from engine.embedding import Embedder, estimate_tokens
from engine.models import Row
from engine.policy import read_policy
from engine.recall.budget import LayerPieces, LeftOut, Piece, left_out, room_beside
from engine.store import Graph

IDENTITY, INVOLUNTARY, PINNED, PROJECT, RECENT = (
    "identity",
    "involuntary",
    "pinned",
    "project",
    "recent",
)
PINNED_AT_MOST = 50
PROJECT_AT_MOST = 30


@dataclass(frozen=True, slots=True)
class Hydration:
    """What a session starts with."""

    persona_id: str
    seed: int  # the same state and seed give the same
    pieces: list[Piece]
    tokens: int
    budget: int
    left_out: list[LeftOut]  # for want of room


async def hydrate(
    graph: Graph,
    embedder: Embedder,
    tenant_id: str,
    persona_id: str,
    *,
    now: datetime,
    budget: int = 2000,
    recent: int = 20,
    project: str | None = None,
    seed: int | None = None,
) -> Hydration:
    """Gather what a persona should have in mind before anybody has said anything."""
    seed = secrets.randbits(32) if seed is None else seed
    whose = {"tenant_id": tenant_id, "persona_id": persona_id}

    async def some(statement: str, **parameters: Any) -> list[Row]:
        rows = await graph.read(statement, **whose, **parameters)
        return [row["memory"] for row in rows]

    async def nothing() -> list[Row]:
        return []

    persona, faded, pinned, of_project, newest = await asyncio.gather(
        get_persona(graph, tenant_id, persona_id),
        come_to_mind(graph, tenant_id, persona_id, seed),
        some("recall/hydration/list_pinned", now=now, limit=PINNED_AT_MOST),
        some("recall/hydration/list_project", project=project, now=now, limit=PROJECT_AT_MOST)
        if project
        else nothing(),
        some("recall/hydration/list_recent", now=now, limit=recent),
    )
    (tokens,) = await embedder.count([persona.identity or ""])
    identity = (
        (Piece(IDENTITY, persona.identity, tokens, role="system"),) if persona.identity else ()
    )
    layers = {INVOLUNTARY: faded, PINNED: pinned, PROJECT: of_project, RECENT: newest}
    pile = LayerPieces([(piece,) for piece in once_each(layers.items())])
    pile.fill(room_beside(budget, identity))
    pieces = [*identity, *(piece for unit in pile.kept for piece in unit)]
    return Hydration(
        persona_id,
        seed,
        pieces,
        tokens=sum(piece.tokens for piece in pieces),
        budget=budget,
        left_out=left_out([pile]),
    )


async def come_to_mind(graph: Graph, tenant_id: str, persona_id: str, seed: int) -> list[Row]:
    """Now and then, something that faded long ago."""
    policy = await read_policy(graph, tenant_id, persona_id)
    chance = Random(f"{seed} {persona_id}")  # noqa: S311  # nothing to guess
    if chance.random() >= policy.figures.involuntary_recall_rate:
        return []
    found = await graph.read(
        "recall/hydration/find_faded_memory",
        tenant_id=tenant_id,
        persona_id=persona_id,
        from_id=f"{chance.getrandbits(128):032x}",
    )
    return [row["memory"] for row in found]


def once_each(layers: Iterable[tuple[str, Sequence[Row]]]) -> Iterable[Piece]:
    """What each layer holds that none before it does."""
    seen = set[str]()
    for layer, memories in layers:
        for it in memories:
            if it["id"] not in seen:
                seen.add(it["id"])
                tokens = it["token_estimate"] or estimate_tokens(it["text"])
                yield Piece(layer, it["text"], tokens, said_at=it["said_at"], memory_id=it["id"])
