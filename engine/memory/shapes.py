"""Forgotten shapes: added by hand, embedded, and listed."""

from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from engine.access import Caller, audit_event, get_persona
from engine.bounds import ITEM_TEXT
from engine.embedding import (
    Embedder,
    MemoryVectors,
    TextInContext,
    Vector,
    embed_in_context,
    search_scope,
)
from engine.errors import IdTaken, Invalid, PersonaNotFound, ShapeNotFound
from engine.ids import new_id
from engine.memory.content import encode_content
from engine.memory.models import MemoryState
from engine.memory.shape_content import (
    IMPORTANCE,
    MAX_EXPERIENCE,
    MAX_MARKER,
    ShapeExperience,
    ShapeOutline,
    clamped,
    shape_title,
)
from engine.models import LATEST, MemoryType, Row
from engine.policy import Policy, read_policy
from engine.store import Graph, Page, decode_moment, make_page, moment_key
from engine.text import term_hashes


@dataclass(frozen=True, slots=True)
class Shape:
    """A forgotten shape: the memory, and the record of what it is like."""

    shape_id: str
    persona_id: str
    title: str
    text: str
    state: MemoryState
    importance: int
    depth: int  # 1 of memories, 2 of shapes of memories; 1 of one that was added by hand
    sources: int  # archived memories or shapes that it was drawn from and that are still there
    relearnable: int  # memories that relearning brings back: all that it stands for
    drawn_by: str  # night, rumour or hand
    said_at: datetime  # the end of the time it is about
    formed_at: datetime
    access_count: int
    connected_themes: str
    felt_absence: str
    emotional_residue: float
    temporal_marker: str
    sense_of_loss: str
    decayed_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewShape:
    """A shape that somebody adds by hand. It has no sources."""

    connected_themes: str
    felt_absence: str
    emotional_residue: float = 0.0  # brought between 0 and 1
    temporal_marker: str = ""
    sense_of_loss: str = ""
    chosen_id: str | None = None


@dataclass(frozen=True, slots=True)
class ShapeVectors:
    """The vectors of a shape as they are stored."""

    embedding: Vector
    packed_vectors: bytes
    token_estimate: int
    known_share: float

    def moved_to(self, vector: Vector, themes: str) -> "ShapeVectors":
        """The same with the vector of its place among memories, rather than of its words."""
        packed = MemoryVectors(vector, terms=term_hashes(themes)).pack()
        return ShapeVectors(vector, packed, self.token_estimate, 1.0)

    @property
    def properties(self) -> Row:
        return {
            "packed_vectors": self.packed_vectors,
            "token_estimate": self.token_estimate,
            "known_share": self.known_share,
        }


@dataclass(frozen=True, slots=True)
class Addition:
    """A shape that is added as it is, without sources."""

    tenant_id: str
    persona_id: str
    shape_id: str
    drawn_by: str
    said_at: datetime
    text: str
    content: Row
    experience: ShapeExperience
    vectors: ShapeVectors


async def embed_shape(embedder: Embedder, themes: str, text: str) -> ShapeVectors:
    """The vectors of a shape by the words of its themes; of its text when it has none."""
    (embedded,) = await embed_in_context(
        embedder, [TextInContext(themes or text, kept_as=text, by_sentence=False)]
    )
    return ShapeVectors(
        embedded.embedding,
        embedded.packed_vectors,
        embedded.token_estimate,
        embedded.known_share,
    )


async def create_shape(
    graph: Graph,
    embedder: Embedder,
    caller: Caller,
    persona_id: str,
    new: NewShape,
    *,
    now: datetime,
) -> Shape:
    """Add a shape by hand. From then on it is like one that a night has drawn.

    The same shape with the same id given again changes nothing.
    """
    experience = checked_experience(new)
    themes = (experience.connected_themes,) if experience.connected_themes else ()
    text = explicit_text(experience)
    shape_id = new.chosen_id or new_id()
    parameters = shape_parameters(
        Addition(
            caller.tenant_id,
            persona_id,
            shape_id,
            drawn_by="hand",
            said_at=now,
            text=text,
            content=ShapeOutline(themes, 0, now, now, experience.emotional_residue).content(),
            experience=experience,
            vectors=await embed_shape(embedder, experience.connected_themes, text),
        ),
        await read_policy(graph, caller.tenant_id, persona_id),
        audit_event(caller, "remembered", now),
    )
    await graph.write_if(
        lambda rows: check_created(rows, persona_id, shape_id, text, experience),
        "memory/shapes/add_shape",
        **parameters,
    )
    # Read as the tenant: a shape has no messages of its own, and is shown to no user.
    return await get_shape(graph, replace(caller, user_id=None), shape_id)


def shape_parameters(new: Addition, policy: Policy, event: Row) -> Row:
    """The parameters of the statement that adds a shape without sources."""
    figures = policy.of(MemoryType.FORGOTTEN_SHAPE.value)
    return {
        "tenant_id": new.tenant_id,
        "persona_id": new.persona_id,
        "shape": {
            "id": new.shape_id,
            "title": shape_title(event["at"]),
            "text": new.text,
            "content": encode_content(new.content),
            "said_at": new.said_at,
            "fades_at": event["at"] + timedelta(days=figures.decay_days),
            "search_scope": search_scope(new.tenant_id, new.persona_id),
            "drawn_by": new.drawn_by,
            "importance": IMPORTANCE,
            "idle_importance": IMPORTANCE,
            **new.vectors.properties,
        },
        "embedding": new.vectors.embedding,
        "experience": asdict(new.experience),
        "event": event,
    }


def checked_experience(new: NewShape) -> ShapeExperience:
    """The experience that a caller gives, inside its bounds."""
    for name, most in (
        ("connected_themes", MAX_EXPERIENCE),
        ("felt_absence", MAX_EXPERIENCE),
        ("temporal_marker", MAX_MARKER),
        ("sense_of_loss", MAX_EXPERIENCE),
    ):
        if len(getattr(new, name)) > most:
            raise Invalid(f"`{name}` has more than {most} characters.")
    return ShapeExperience(
        connected_themes=new.connected_themes,
        felt_absence=new.felt_absence,
        emotional_residue=clamped(new.emotional_residue),
        temporal_marker=new.temporal_marker,
        sense_of_loss=new.sense_of_loss,
    )


def explicit_text(experience: ShapeExperience) -> str:
    """What recall says of a shape that was added by hand."""
    about = f"about {experience.connected_themes}" if experience.connected_themes else "once"
    when = f" {experience.temporal_marker}" if experience.temporal_marker else ""
    felt = f" {experience.felt_absence}" if experience.felt_absence else ""
    return f"You once knew something {about}{when}.{felt}"[:ITEM_TEXT]


def check_created(
    rows: list[Row], persona_id: str, shape_id: str, text: str, experience: ShapeExperience
) -> None:
    """Refuse an id that something else has."""
    if not rows:
        raise PersonaNotFound(persona_id)
    kept = {"persona_id": persona_id, "text": text, **asdict(experience)}
    if rows[0]["taken"] or rows[0]["kept"] != kept:
        raise IdTaken("memory", shape_id)


async def get_shape(graph: Graph, caller: Caller, shape_id: str) -> Shape:
    """One shape, whatever its state, if the caller may see it."""
    rows = await graph.read(
        "memory/shapes/get_shape",
        tenant_id=caller.tenant_id,
        shape_id=shape_id,
        **caller.visibility,
    )
    if not rows:
        raise ShapeNotFound(shape_id)
    return shape_from_row(rows[0]["shape"])


async def list_shapes(
    graph: Graph,
    caller: Caller,
    persona_id: str,
    *,
    state: MemoryState | None = None,
    cursor: str | None = None,
    limit: int,
) -> Page[Shape]:
    """A page of a persona's shapes, the newest first; without a state, those not withdrawn."""
    await get_persona(graph, caller.tenant_id, persona_id)
    before_at, before_id = decode_moment(cursor, first=LATEST)
    rows = await graph.read(
        "memory/shapes/list_shapes",
        tenant_id=caller.tenant_id,
        persona_id=persona_id,
        state=state.value if state else None,
        **caller.visibility,
        before_at=before_at,
        before_id=before_id,
        limit=limit + 1,
    )
    shapes = [shape_from_row(row["shape"]) for row in rows]
    return make_page(shapes, limit, lambda shape: moment_key(shape.formed_at, shape.shape_id))


def shape_from_row(row: Row) -> Shape:
    return Shape(**{**row, "state": MemoryState(row["state"])})
