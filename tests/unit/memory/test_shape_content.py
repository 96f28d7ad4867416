"""What a shape says, from values; and what a language model may make of it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import LlmUnavailable
from engine.memory import (
    LlmPhraser,
    ShapeOutline,
    clamped,
    emotional_residue,
    outline_text,
    shape_title,
)
from engine.memory.shape_phrasing import says_only_what_is_known

MARCH, MAY = datetime(2026, 3, 4, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
GARDEN = ShapeOutline(("garden", "music"), 12, MARCH, MAY, 0.4)


def source(**values: Any) -> dict[str, Any]:
    return {"valence": None, "arousal": None, "weight": 5, "access_count": 0} | values


@pytest.mark.spec("SHAPE-03", "SHAPE-06")
def test_a_shape_says_themes_time_count_and_how_it_feels() -> None:
    experience = GARDEN.experience()

    assert outline_text(GARDEN) == (
        "You once knew something about garden and music: "
        "12 memories between March 2026 and May 2026, it mattered."
    )
    assert experience.connected_themes == "garden, music"
    assert experience.temporal_marker == "between March 2026 and May 2026"
    assert experience.sense_of_loss == "it mattered"
    assert experience.felt_absence == (
        "Something about garden and music is gone, between March 2026 and May 2026; it mattered."
    )
    assert shape_title(MAY) == "Forgotten Shape -- 2026-05-01"


def test_without_a_theme_it_says_that_it_cannot_say() -> None:
    unnamed = ShapeOutline((), 1, MAY, MAY, 0.0)

    assert outline_text(unnamed) == (
        "You once knew something you cannot name: 1 memory in May 2026, it hardly mattered."
    )


@pytest.mark.spec("SHAPE-06")
def test_the_residue_grows_with_feeling_importance_and_recalls() -> None:
    plain = emotional_residue([source()])

    assert emotional_residue([source(valence=-0.9, arousal=0.8)]) > plain
    assert emotional_residue([source(weight=9)]) > plain
    assert emotional_residue([source(access_count=4)]) > plain
    assert emotional_residue([]) == 0


@given(st.floats())
def test_a_residue_is_between_0_and_1(residue: float) -> None:
    assert 0 <= clamped(residue) <= 1


class Said:
    """A language model that always says the same."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def ask(self, instruction: str, user_message: str) -> Any:
        self.asked.append(user_message)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.spec("SHAPE-06")
@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ({"felt_absence": "A quiet gap about music, and a garden that mattered."}, True),
        ({"felt_absence": "A quiet gap where Ottilie sang in the garden."}, False),
        ({"felt_absence": "13 memories are missing."}, False),
        ({"felt_absence": ""}, False),
        ({"nothing": 1}, False),
        ([1], False),
        (LlmUnavailable("TimeoutException"), False),
    ],
    ids=lambda value: json.dumps(value, default=str)[:40],
)
async def test_a_language_model_only_phrases_what_the_structure_says(
    answer: object, kept: bool
) -> None:
    model = Said(answer)

    phrase = await LlmPhraser(model).phrase(GARDEN)  # type: ignore[arg-type]

    assert model.asked == [GARDEN.felt_absence]
    assert (phrase is not None) == kept
    assert GARDEN.experience(phrase).felt_absence == (phrase or GARDEN.felt_absence)


def test_the_template_passes_its_own_check() -> None:
    assert says_only_what_is_known(GARDEN.felt_absence, GARDEN)
