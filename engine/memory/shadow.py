"""The shadow of a persona: its forgotten shapes, how they hang together, and what it tends to lose.

Computed when it is read: nothing is stored that a flag, an undo or a relearning would have to mend.
"""

import asyncio
from dataclasses import dataclass

from engine.access import get_persona
from engine.memory.losses import LossReport, ShapeEdge, loss_report, theme_edges, themes_of
from engine.memory.shapes import Shape
from engine.models import Row
from engine.store import Graph

MAX_REPORTED = 1_000  # newest shapes whose themes the report counts


@dataclass(frozen=True, slots=True)
class Shadow:
    """What a persona has lost, as far as its shapes say."""

    persona_id: str
    nodes: list[Shape]  # the newest first
    edges: list[ShapeEdge]
    more: bool  # whether there are older shapes
    report: LossReport


async def read_shadow(graph: Graph, tenant_id: str, persona_id: str, *, limit: int) -> Shadow:
    """The newest shapes, what is between them, and a report of all losses."""
    await get_persona(graph, tenant_id, persona_id)
    rows = await graph.read(
        "memory/shapes/list_shadow",
        tenant_id=tenant_id,
        persona_id=persona_id,
        limit=MAX_REPORTED,
    )
    groups = await graph.read(
        "memory/shapes/count_losses", tenant_id=tenant_id, persona_id=persona_id
    )
    return await asyncio.to_thread(shadow_of, persona_id, rows, groups, limit)


def shadow_of(persona_id: str, rows: list[Row], groups: list[Row], limit: int) -> Shadow:
    """The shadow over the newest shapes and over all groups of memories."""
    shapes = [Shape(**row["shape"]) for row in rows]
    nodes = shapes[:limit]
    return Shadow(
        persona_id,
        nodes,
        [*part_edges(rows[:limit]), *theme_edges(nodes)],
        more=len(shapes) > limit,
        report=loss_report(groups, [(themes_of(shape), shape) for shape in shapes]),
    )


def part_edges(rows: list[Row]) -> list[ShapeEdge]:
    """Which shape became part of which other, among those that are shown."""
    shown = {row["shape"]["shape_id"] for row in rows}
    return [
        ShapeEdge(row["shape"]["shape_id"], row["into_id"], "SHAPED_INTO")
        for row in rows
        if row["into_id"] in shown
    ]
