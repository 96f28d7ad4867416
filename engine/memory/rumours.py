"""Rumours: what one persona tells another of a forgotten shape. Pure functions.

A rumour has the structure of what was lost and nothing that leads back: at most two everyday words,
months rather than times, a residue in tenths, no number of memories, no source.
"""

import math
from dataclasses import replace
from datetime import UTC, datetime

from engine.bounds import ITEM_TEXT
from engine.memory.shape_content import ShapeExperience, ShapeOutline, clamped
from engine.models import Row
from engine.text import everyday_words_of

RUMOUR = "rumour"  # what a rumour is drawn by
MAX_THEMES = 2  # of more, three could stand in a row as a source had them
STEPS = 10  # of the residue from 0 to 1: an exact one would be as good as a name


def rumour_outline(themes: str, content: Row, residue: float) -> ShapeOutline:
    """What may be told of a shape: `themes` are its words, `content` has the time it is about."""
    general = sorted(set(everyday_words_of(themes)))[:MAX_THEMES]
    return ShapeOutline(
        tuple(general),
        memories=0,
        first=start_of_month(content["first"]),
        last=start_of_month(content["last"]),
        residue=clamped(math.floor(residue * STEPS) / STEPS),
    )


def without_themes(outline: ShapeOutline) -> ShapeOutline:
    """The outline of a rumour that does not say what it is about."""
    return replace(outline, themes=())


def start_of_month(time: str) -> datetime:
    """The first moment of the month that a time is in."""
    moment = datetime.fromisoformat(time).astimezone(UTC)
    return datetime(moment.year, moment.month, 1, tzinfo=UTC)


def rumour_text(outline: ShapeOutline) -> str:
    """What recall and hydration say of a rumour."""
    # Each word apart: "garden and cake" may be what somebody said.
    topic = ", ".join(f"about {theme}" for theme in outline.themes) or "nobody can name"
    when, loss = outline.temporal_marker, outline.sense_of_loss
    return f"You have heard from others that something {topic} is gone, {when}; {loss}."[:ITEM_TEXT]


def rumour_experience(outline: ShapeOutline) -> ShapeExperience:
    """The experience record of a rumour."""
    heard = f"Something is gone that others knew, {outline.temporal_marker}; it is only a rumour."
    return outline.experience(heard)
