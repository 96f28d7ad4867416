"""Now and then something comes back by itself: a faded memory or a faded shape, said to be one."""

from datetime import timedelta

import pytest

from engine.policy.policy import Layer
from engine.policy.stored import set_persona_policy
from engine.recall.hydration import CAME_BACK, Hydration, hydrate
from tests.graph.memory.test_relearning import a_shape
from tests.lives import FIRST_NIGHT, Life

LATER = FIRST_NIGHT + timedelta(days=10)


async def waking(life: Life, seed: int) -> Hydration:
    return await hydrate(life.graph, life.embedder, life.tenant_id, "ada", now=LATER, seed=seed)


@pytest.mark.spec("CTX-07", "CTX-06", "SEARCH-07")
async def test_a_faded_memory_or_shape_comes_back_marked_and_unused(life: Life) -> None:
    shape_id, lost, _ = await a_shape(life)
    await life.ask(
        # They faded by themselves: nobody has put them away.
        "MATCH (m:Memory {tenant_id: $t}) WHERE m.id = $id OR m.state = 'archived' "
        "SET m.state = 'archived' WITH m MATCH (m)<-[:ABOUT]-(e {action: 'archived'}) "
        "DETACH DELETE e",
        id=shape_id,
    )
    layer = Layer({"involuntary_recall_rate": 1.0})
    await set_persona_policy(life.graph, life.tenant_id, "ada", layer)
    before = await life.everything()

    woken = {seed: await waking(life, seed) for seed in range(120)}
    surfaced = {
        seed: [piece for piece in result.pieces if piece.layer == "involuntary"]
        for seed, result in woken.items()
    }

    assert {len(pieces) for pieces in surfaced.values()} == {1}
    pieces = [piece for (piece,) in surfaced.values()]
    assert {piece.hint for piece in pieces} == {CAME_BACK}
    assert {piece.memory_id for piece in pieces} == {*lost, shape_id}
    for piece in pieces:
        of_shape = piece.memory_id == shape_id
        assert piece.relearnable == (len(lost) if of_shape else 0)
        assert piece.content.startswith("You once knew something about") == of_shape
    assert all([await waking(life, seed) == woken[seed] for seed in range(20)])
    others = [
        piece
        for result in woken.values()
        for piece in result.pieces
        if piece.layer != "involuntary"
    ]
    assert {piece.hint for piece in others} == {None}
    assert await life.everything() == before
