from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import Invalid
from engine.recall.budget import LayerPieces, Piece, fill_layers, list_left_out, room_after_identity
from engine.recall.working_memory import PLACEHOLDER, working_memory

AT = datetime(2026, 5, 1, tzinfo=UTC)


def unit(tokens: int, layer: str = "cold") -> tuple[Piece, ...]:
    return (Piece(layer, f"{tokens} tokens", tokens),)


def sizes(layer: LayerPieces) -> list[int]:
    return [piece.tokens for kept in layer.kept for piece in kept]


def test_what_is_too_long_is_passed_over_and_told() -> None:
    layer = LayerPieces([unit(5), unit(50), unit(4)])

    assert layer.fill(10) == 9
    assert sizes(layer) == [5, 4]
    (left,) = list_left_out([layer])
    assert (left.layer, left.tokens) == ("cold", 50)


def test_turns_are_taken_contiguous_so_that_no_talk_has_a_hole() -> None:
    layer = LayerPieces([unit(5), unit(50), unit(4)], contiguous=True)

    assert layer.fill(10) == 5
    assert sizes(layer) == [5]


def test_what_one_layer_leaves_goes_to_the_others() -> None:
    topic, working = LayerPieces([unit(1)]), LayerPieces([unit(30)] * 3, contiguous=True)

    fill_layers(110, unit(10), {"topic": (0.5, topic), "working": (0.5, working)})

    assert sizes(topic) == [1]
    assert sizes(working) == [30, 30, 30]


def test_an_identity_is_whole_or_the_budget_is_refused() -> None:
    assert room_after_identity(10, unit(10)) == 0
    with pytest.raises(Invalid, match="11 tokens, and the budget is 10"):
        room_after_identity(10, unit(11))


@given(
    st.integers(0, 200),
    st.lists(st.lists(st.integers(0, 60), max_size=8), min_size=1, max_size=4),
    st.booleans(),
)
def test_no_budget_is_ever_exceeded_and_nothing_gets_lost(
    budget: int, layers: list[list[int]], contiguous: bool
) -> None:
    filled = {
        str(place): (1 / len(layers), LayerPieces([unit(size) for size in layer], contiguous))
        for place, layer in enumerate(layers)
    }

    fill_layers(budget, (), filled)

    kept = [size for _, layer in filled.values() for size in sizes(layer)]
    left = [piece.tokens for piece in list_left_out(layer for _, layer in filled.values())]
    assert sum(kept) <= budget
    assert sorted(kept + left) == sorted(size for layer in layers for size in layer)


def turn(
    id_: str, role: str, *, flagged: bool = False, reply_to: str | None = None
) -> dict[str, object]:
    return {
        "id": id_,
        "role": role,
        "content": id_,
        "speaker": None,
        "user_id": None,
        "said_at": AT,
        "reply_to": reply_to,
        "flagged": flagged,
    }


@pytest.mark.spec("CTX-03")
@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ([turn("a", "user", flagged=True), turn("b", "persona")], [PLACEHOLDER, "b"]),
        ([turn("a", "user", flagged=True), turn("b", "user")], ["b"]),
        ([turn("a", "user", flagged=True), turn("b", "user", reply_to="a")], [PLACEHOLDER, "b"]),
        (
            [
                turn("a", "user"),
                turn("b", "persona", flagged=True),
                turn("c", "user", flagged=True),
                turn("d", "persona"),
            ],
            ["a", PLACEHOLDER, "d"],
        ),
        ([turn("a", "user", flagged=True)], []),
        ([turn("a", "user"), turn("b", "persona")], ["a", "b"]),
    ],
)
def test_one_placeholder_stands_where_the_next_turn_answers_what_is_flagged(
    said: list[dict[str, object]], shown: list[str]
) -> None:
    assert [piece.content for unit in working_memory(said) for piece in unit] == shown
