"""Hydration: the memories a persona starts a session with, before anything is asked.

Identity, standing instructions and preferences, pinned memories, those of a project, recent ones,
forgotten shapes, and now and then a faded memory or shape. None of them counts as used.
"""

import asyncio
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from typing import Any

from engine.access import get_persona
from engine.embedding import Embedder
from engine.models import Row
from engine.policy import read_policy
from engine.recall.budget import (
    LayerPieces,
    LeftOut,
    Piece,
    Unit,
    list_left_out,
    piece_from_memory,
    room_after_identity,
)
from engine.recall.standing import MAX_STANDING
from engine.store import Graph

IDENTITY, STANDING, INVOLUNTARY, PINNED, PROJECT, RECENT, SHAPES = (
    "identity",
    "standing",
    "involuntary",
    "pinned",
    "project",
    "recent",
    "shapes",
)
LAYERS = (STANDING, INVOLUNTARY, PINNED, PROJECT, RECENT, SHAPES)  # in their order
MAX_PINNED = 50
MAX_PROJECT = 30
MAX_SHAPES = 3
CAME_BACK = "This had faded, and came back by itself."  # the hint of what was not called for


@dataclass(frozen=True, slots=True)
class Hydration:
    """The pieces a session starts with."""

    persona_id: str
    seed: int  # the same state and seed give the same result
    pieces: list[Piece]
    tokens: int
    budget: int
    left_out: list[LeftOut]  # did not fit into the budget


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
    """The memories of each layer, in this order, as far as the budget goes."""
    seed = secrets.randbits(32) if seed is None else seed

    async def list_memories(statement: str, **parameters: Any) -> list[Row]:
        rows = await graph.read(
            statement, tenant_id=tenant_id, persona_id=persona_id, now=now, **parameters
        )
        return [row["memory"] for row in rows]

    async def project_memories() -> list[Row]:
        statement = "recall/hydration/list_project"
        options = {"project": project, "limit": MAX_PROJECT}
        return await list_memories(statement, **options) if project else []

    reads = (
        list_memories("recall/hydration/list_standing", standing=MAX_STANDING),
        involuntary_memories(graph, tenant_id, persona_id, seed),
        list_memories("recall/hydration/list_pinned", limit=MAX_PINNED),
        project_memories(),
        list_memories("recall/hydration/list_recent", limit=recent),
        list_memories("recall/hydration/list_shapes", limit=MAX_SHAPES),
    )
    persona, memories = await asyncio.gather(
        get_persona(graph, tenant_id, persona_id), asyncio.gather(*reads)
    )
    identity = await identity_unit(embedder, persona.identity)
    layers = zip(LAYERS, memories, strict=True)
    remembered = LayerPieces([(piece,) for piece in distinct_pieces(layers)])
    remembered.fill(room_after_identity(budget, identity))
    pieces = [*identity, *(piece for unit in remembered.kept for piece in unit)]
    return Hydration(
        persona_id,
        seed,
        pieces,
        tokens=sum(piece.tokens for piece in pieces),
        budget=budget,
        left_out=list_left_out([remembered]),
    )


async def identity_unit(embedder: Embedder, identity: str | None) -> Unit:
    """The persona's identity as a unit; empty when it has none."""
    if not identity:
        return ()
    (tokens,) = await embedder.count_tokens([identity])
    return (Piece(IDENTITY, identity, tokens, role="system"),)


async def involuntary_memories(
    graph: Graph, tenant_id: str, persona_id: str, seed: int
) -> list[Row]:
    """A faded memory or shape, with the probability that the policy sets; otherwise nothing."""
    policy = await read_policy(graph, tenant_id, persona_id)
    random = Random(f"{seed} {persona_id}")  # noqa: S311  # not a secret
    if random.random() >= policy.figures.involuntary_recall_rate:
        return []
    rows = await graph.read(
        "recall/hydration/find_faded_memory",
        tenant_id=tenant_id,
        persona_id=persona_id,
        at_share=random.random(),
        of_share=random.random(),
    )
    return [row["memory"] for row in rows]


def distinct_pieces(layers: Iterable[tuple[str, Sequence[Row]]]) -> Iterable[Piece]:
    """The memories of all layers as pieces, each once, in the first layer that has it."""
    seen = set[str]()
    for layer, memories in layers:
        for memory in memories:
            if memory["id"] not in seen:
                seen.add(memory["id"])
                piece = piece_from_memory(layer, memory)
                yield replace(piece, hint=CAME_BACK) if layer == INVOLUNTARY else piece
