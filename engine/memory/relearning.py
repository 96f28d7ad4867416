"""What can be done with a forgotten shape: relearn what is behind it, or tell another persona."""

from dataclasses import dataclass
from datetime import datetime

from engine.access import Caller, audit_event
from engine.embedding import Embedder
from engine.errors import (
    MemoryNotFound,
    NothingToRelearn,
    NotShareable,
    PersonaNotFound,
)
from engine.ids import id_from, new_id
from engine.memory.change_log import log_changes
from engine.memory.content import decode_content
from engine.memory.rumours import (
    RUMOUR,
    rumour_experience,
    rumour_outline,
    rumour_text,
    without_themes,
)
from engine.memory.shape_content import MAX_SOURCE_SIMILARITY, ShapeOutline
from engine.memory.shapes import (
    Addition,
    Shape,
    ShapeVectors,
    embed_shape,
    get_shape,
    shape_parameters,
)
from engine.memory.withdrawal import withdraw_shapes
from engine.models import Row
from engine.policy import read_policy
from engine.store import Graph, Write


@dataclass(frozen=True, slots=True)
class Relearning:
    """What relearning a shape has brought back, or would."""

    shape_id: str
    persona_id: str
    memory_ids: list[str]  # active again through this call
    withdrawn_shape_ids: list[str]  # shapes that step back, since what they speak of lives
    counts: dict[str, int]  # of each of the two


async def relearn_shape(
    graph: Graph, caller: Caller, shape_id: str, *, now: datetime
) -> Relearning:
    """Bring back every memory behind a shape, through all shapes between. Each counts as accessed.

    Flagged memories stay archived. Doing it twice changes nothing more.
    """
    check_staff(caller, shape_id)
    event = audit_event(caller, "relearned", now)

    async def work(write: Write) -> Relearning:
        rows = await write(
            "memory/shapes/relearn_shape",
            tenant_id=caller.tenant_id,
            shape_id=shape_id,
            event=event,
        )
        if not rows:
            raise MemoryNotFound(shape_id)
        (row,) = rows
        memory_ids: list[str] = row["changed_ids"]
        if not memory_ids and not row["active_ids"]:
            raise NothingToRelearn(shape_id)
        withdrawn = await settle_relearned(write, caller.tenant_id, row["persona_id"], memory_ids)
        return Relearning(
            shape_id,
            row["persona_id"],
            sorted(memory_ids),
            sorted(withdrawn),
            {"memories": len(memory_ids), "shapes": len(withdrawn)},
        )

    return await graph.write_with(work, name="memory/shapes/relearn_shape")


async def settle_relearned(
    write: Write, tenant_id: str, persona_id: str, memory_ids: list[str]
) -> list[str]:
    """Settle what follows from memories that are active again. Returns the withdrawn shapes."""
    if not memory_ids:
        return []
    settled = await write("memory/facts/settle_facts", tenant_id=tenant_id, memory_ids=memory_ids)
    withdrawn, linked = await withdraw_shapes(write, tenant_id, memory_ids)
    changed = [*memory_ids, *(row["id"] for row in settled), *withdrawn, *linked]
    await log_changes(write, tenant_id, persona_id, changed, content=bool(withdrawn))
    return withdrawn


async def share_shape(
    graph: Graph,
    embedder: Embedder,
    caller: Caller,
    shape_id: str,
    persona_id: str,
    *,
    now: datetime,
) -> Shape:
    """Give another persona a rumour of a shape. The same shape given again changes nothing."""
    check_staff(caller, shape_id)
    policy = await read_policy(graph, caller.tenant_id, persona_id)
    told, heard = audit_event(caller, "shared", now), audit_event(caller, "heard", now)

    async def work(write: Write) -> str:
        shape = await read_shareable(write, caller, shape_id, persona_id, told)
        rumour = await rumour_of(write, embedder, caller, shape, persona_id)
        rows = await write("memory/shapes/add_shape", **shape_parameters(rumour, policy, heard))
        if not rows:
            raise PersonaNotFound(persona_id)
        return rumour.shape_id

    rumour_id = await graph.write_with(work, name="memory/shapes/share_shape")
    return await get_shape(graph, caller, rumour_id)


async def read_shareable(
    write: Write, caller: Caller, shape_id: str, persona_id: str, event: Row
) -> Row:
    """What a rumour of a shape is made from, under the shape's lock."""
    rows = await write(
        "memory/shapes/share_shape",
        tenant_id=caller.tenant_id,
        shape_id=shape_id,
        persona_id=persona_id,
        key=new_id(),
        event=event,
    )
    if not rows:
        raise MemoryNotFound(shape_id)
    shape: Row = rows[0]["shape"]
    if shape["persona_id"] == persona_id:
        raise NotShareable(f"Persona {persona_id!r} has it itself.")
    if shape["state"] == "withdrawn":
        raise NotShareable("It is withdrawn, and says nothing until a night draws it again.")
    return shape


async def rumour_of(
    write: Write,
    embedder: Embedder,
    caller: Caller,
    shape: Row,
    persona_id: str,
) -> Addition:
    """The rumour of a shape, as it is added to another persona.

    Its id follows from a key that only the shape has, so that nobody who knows the ids of personas
    and days can compute from it whose shape it was.
    """
    outline = rumour_outline(shape["themes"], decode_content(shape["content"]), shape["residue"])
    vectors = await embed_rumour(embedder, outline)
    (nearest,) = await write(
        "memory/shapes/find_nearest_source",
        tenant_id=caller.tenant_id,
        shape_id=shape["id"],
        embedding=vectors.embedding,
    )
    if (nearest["cosine"] or 0.0) >= MAX_SOURCE_SIMILARITY:
        outline = without_themes(outline)
        vectors = await embed_rumour(embedder, outline)
    return Addition(
        caller.tenant_id,
        persona_id,
        id_from(shape["key"], persona_id),
        drawn_by=RUMOUR,
        said_at=outline.last,
        text=rumour_text(outline),
        content=outline.content(),
        experience=rumour_experience(outline),
        vectors=vectors,
    )


async def embed_rumour(embedder: Embedder, outline: ShapeOutline) -> ShapeVectors:
    return await embed_shape(embedder, " ".join(outline.themes), rumour_text(outline))


def check_staff(caller: Caller, shape_id: str) -> None:
    """Refuse whoever acts for a user: a shape comes from no message, so it is nobody's to see."""
    if caller.sees_as is not None:
        raise MemoryNotFound(shape_id)
