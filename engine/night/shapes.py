"""Shapes: what was archived leaves one memory a night that says what is missing, not what it was.

What is drawn follows from the graph alone: an archived memory that is not flagged and that no shape
speaks of. A night that failed, or that had no tools, so leaves nothing out; the next one draws it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import numpy as np

from engine.embedding import Vector, normalized, search_scope
from engine.ids import id_from
from engine.memory import (
    MAX_SOURCE_SIMILARITY,
    ShapeOutline,
    ShapeVectors,
    clamped,
    decode_content,
    embed_shape,
    emotional_residue,
    encode_content,
    outline_text,
    shape_title,
)
from engine.models import MemoryType, Row
from engine.night.integrate import decay_period
from engine.night.steps import ActiveRun, NightTools, Step
from engine.store import Write
from engine.text import safe_themes

PAGE_MEMORIES = 2_500  # read at once: their vectors are the bulk of it
READ_CHARACTERS = 1_000  # of a text, in which themes are looked for
LIVING_TEXTS = 2_000  # newest living memories that say which words are common
MAX_LINKS = 50  # that a shape inherits
MIN_CENTROID_SOURCES = 5  # of fewer, the mean is as good as their texts
MAX_CENTROID_SHARE = 0.4  # of the weight of all sources, that one of them may have
MAX_DEPTH = 3  # shapes of shapes of shapes of memories; these stay as they are
MIN_SHAPES = 3  # archived shapes that make a shape of shapes
ATTEMPTS = 2  # at one draw: the first locks all sources, so the second sees them as they stay


@dataclass(frozen=True, slots=True)
class Draft:
    """A shape to be drawn: a new one, or one that was withdrawn."""

    id: str
    title: str
    fades_at: datetime | None
    sources: list[Row]
    depth: int
    withdrawn: Row | None = None  # its row, of one that is drawn again


ReadDraft = Callable[[], Awaitable[Draft | None]]


async def shapes(run: ActiveRun) -> dict[str, int]:
    """Draw withdrawn shapes again, then one of memories, then one of faded shapes."""
    tools = run.tools
    if tools is None:
        return {}
    while await run.step("shapes", lambda write, _: redraw_next(run, tools, write)):
        pass
    await run.step("shapes", lambda write, _: draw_memories(run, tools, write))
    await run.step("shapes", lambda write, _: draw_shapes(run, tools, write))
    return {}


async def redraw_next(run: ActiveRun, tools: NightTools, write: Write) -> Step | None:
    """Draw the next withdrawn shape again, from those of its sources that are still lost."""

    async def draft() -> Draft | None:
        rows = await write(
            "night/shapes/find_withdrawn_shape",
            **run.persona_parameters,
            characters=READ_CHARACTERS,
        )
        if not rows:
            return None
        (row,) = rows
        lost, fades_at = row.pop("lost"), row["fades_at"]
        if row["fades"] and fades_at is None:
            fades_at = run.as_of
        return Draft(row["id"], row["title"], fades_at, lost, row["depth"], withdrawn=row)

    return await draw(run, tools, write, draft)


async def draw_memories(run: ActiveRun, tools: NightTools, write: Write) -> Step | None:
    """Draw one shape of all archived memories that none speaks of."""

    async def draft() -> Draft | None:
        sources: list[Row] = []
        while True:
            rows = await write(
                "night/shapes/list_lost_memories",
                **run.persona_parameters,
                after=sources[-1]["id"] if sources else "",
                limit=PAGE_MEMORIES,
                characters=READ_CHARACTERS,
            )
            sources += [row["source"] for row in rows]
            if len(rows) < PAGE_MEMORIES:
                break
        return new_draft(run, "memories", sources, depth=1) if sources else None

    return await draw(run, tools, write, draft)


async def draw_shapes(run: ActiveRun, tools: NightTools, write: Write) -> Step | None:
    """Draw one shape of faded shapes, if there are enough of one depth."""

    async def draft() -> Draft | None:
        rows = await write(
            "night/shapes/list_lost_shapes", **run.persona_parameters, max_depth=MAX_DEPTH
        )
        by_depth: dict[int, list[Row]] = {}
        for row in rows:
            by_depth.setdefault(row["source"]["depth"], []).append(row["source"])
        for depth, sources in by_depth.items():
            if len(sources) >= MIN_SHAPES:
                return new_draft(run, "shapes", sources, depth=depth + 1)
        return None

    return await draw(run, tools, write, draft)


def new_draft(run: ActiveRun, kind: str, sources: list[Row], *, depth: int) -> Draft:
    """The draft of a new shape. Its id follows from the day: doing it twice is doing it once."""
    fades_at = run.as_of + decay_period(run.policy, MemoryType.FORGOTTEN_SHAPE, None)
    return Draft(
        id_from(run.persona.id, run.period, kind), shape_title(run.as_of), fades_at, sources, depth
    )


async def draw(
    run: ActiveRun, tools: NightTools, write: Write, read_draft: ReadDraft
) -> Step | None:
    """Draw what `read_draft` reads; once more if one of the sources has changed meanwhile."""
    for _ in range(ATTEMPTS):
        draft = await read_draft()
        if draft is None:
            return None
        outline = await outline_of(run, write, draft)
        vectors = await vectors_of(tools, outline, draft)
        experience = outline.experience(await tools.phraser.phrase(outline))
        rows = await write(
            "night/shapes/draw_shape",
            **run.persona_parameters,
            shape={
                "id": draft.id,
                "title": draft.title,
                "text": outline_text(outline),
                "content": encode_content(outline.content()),
                "said_at": outline.last,
                "fades_at": draft.fades_at,
                "search_scope": search_scope(run.tenant_id, run.persona.id),
                "shape_depth": draft.depth,
                "shape_memories": outline.memories,
                "drawn_by": "night",
                **vectors.properties,
            },
            embedding=vectors.embedding,
            experience=asdict(experience),
            source_ids=[source["id"] for source in draft.sources],
            as_of=run.as_of,
            max_links=MAX_LINKS,
        )
        if rows:
            return step_of(draft, rows[0]["linked_ids"])
    raise ValueError("The sources of a shape keep changing.")


def step_of(draft: Draft, linked_ids: list[str]) -> Step:
    """The step that drew a shape, with what its undo needs."""
    change: Row = {"id": draft.id, "is_new": draft.withdrawn is None}
    if draft.withdrawn:
        names = ("source_ids", "fades_at", "decayed_at")
        change |= {name: draft.withdrawn[name] for name in names}
    else:
        change["sources"] = len(draft.sources)
    return Step(
        {"drawn" if draft.withdrawn is None else "redrawn": 1, "sources": len(draft.sources)},
        {"drawn": [change]},
        changed_ids=[draft.id, *linked_ids],
        adds_items=True,
    )


async def outline_of(run: ActiveRun, write: Write, draft: Draft) -> ShapeOutline:
    """What a shape may say of its sources."""
    if draft.depth > 1:
        return outline_of_shapes(draft)
    (row,) = await write(
        "night/shapes/list_living_texts",
        **run.persona_parameters,
        limit=LIVING_TEXTS,
        characters=READ_CHARACTERS,
    )
    return await asyncio.to_thread(outline_of_memories, run, draft, row["texts"])


def outline_of_memories(
    run: ActiveRun, draft: Draft, living: Sequence[tuple[str, str | None, str]]
) -> ShapeOutline:
    sources = draft.sources
    names = {run.persona.name, *(source["about"] for source in sources if source["about"])}
    names |= {about for _, about, _ in living if about}
    themes = safe_themes(
        [without_speaker(source["text"], source["about"]) for source in sources],
        (without_speaker(text, about) for _, about, text in living),
        names,
    )
    times = [source["said_at"] for source in sources]
    return ShapeOutline(
        tuple(themes), len(sources), min(times), max(times), emotional_residue(sources)
    )


def outline_of_shapes(draft: Draft) -> ShapeOutline:
    """What shapes say together: the themes that most of them name, and all of their time."""
    contents = [decode_content(source["content"]) for source in draft.sources]
    counts: dict[str, int] = {}
    for content in contents:
        for theme in content.get("themes", []):
            counts[theme] = counts.get(theme, 0) + max(1, content["memories"])
    themes = sorted(counts, key=lambda theme: (-counts[theme], theme))[:5]
    weights = shape_weights(draft.sources)
    residue = float(np.average([source["residue"] for source in draft.sources], weights=weights))
    return ShapeOutline(
        tuple(themes),
        sum(content["memories"] for content in contents),
        min(datetime.fromisoformat(content["first"]) for content in contents),
        max(datetime.fromisoformat(content["last"]) for content in contents),
        clamped(residue),
        draft.depth,
    )


def without_speaker(text: str, about: str | None) -> str:
    return text.removeprefix(f"{about}: ")


async def vectors_of(tools: NightTools, outline: ShapeOutline, draft: Draft) -> ShapeVectors:
    """The vectors of a shape: of its place among memories if that is safe, else of its themes."""
    text, themes = outline_text(outline), " ".join(outline.themes)
    by_words = await embed_shape(tools.embedder, themes, text)
    sources = np.asarray([source["embedding"] for source in draft.sources], np.float32)
    if draft.depth == 1:
        weights = np.asarray([source["weight"] for source in draft.sources], float)
        centroid = safe_centroid(sources, weights)
        if centroid is not None:
            return by_words.moved_to(centroid, themes)
        if themes and resembles_a_source(by_words.embedding, sources):
            return await embed_shape(tools.embedder, "", text)
        return by_words
    mean = np.average(sources, axis=0, weights=shape_weights(draft.sources))
    return by_words.moved_to(normalized(mean.astype(np.float32)), themes)


def shape_weights(shapes: Sequence[Row]) -> list[int]:
    """How much each of some shapes counts: by how many memories it stands for."""
    return [max(1, decode_content(shape["content"])["memories"]) for shape in shapes]


def safe_centroid(sources: Vector, weights: Vector) -> Vector | None:
    """The weighted mean of the vectors; None if it would be as good as one of their texts."""
    if len(sources) < MIN_CENTROID_SOURCES or weights.max() > MAX_CENTROID_SHARE * weights.sum():
        return None
    centroid = normalized(np.average(sources, axis=0, weights=weights).astype(np.float32))
    return None if resembles_a_source(centroid, sources) else centroid


def resembles_a_source(vector: Vector, sources: Vector) -> bool:
    """Whether the text of a source could be found by the vector."""
    lengths = np.maximum(np.linalg.norm(sources, axis=1), 1e-9)
    return bool(((sources @ vector) / lengths).max() >= MAX_SOURCE_SIMILARITY)
