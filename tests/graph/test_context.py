"""What a persona is handed before it answers, and what it wakes up with."""

from datetime import timedelta
from typing import Any

import pytest

from engine.acknowledgments import Templates
from engine.budget import Piece
from engine.checkpoints import make_checkpoints
from engine.context import PLACEHOLDER, Context, Wanted, assemble_context
from engine.embedding import open_embedder
from engine.errors import ConversationNotFound, Invalid, PersonaNotFound
from engine.flags import flag_message
from engine.hydration import Woken, hydrate
from engine.memories import NewMemory, archive_memory, remember
from engine.models import MemoryType
from engine.personas import change_persona
from engine.policy import Layer, set_persona_policy
from engine.recall import Recall
from engine.settings import Settings
from tests.lives import BORN, FIRST_NIGHT, RULES, Life

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
LATER = FIRST_NIGHT + DAY
IDENTITY = "You are Ada, a patient gardener who never hurries anybody."


@pytest.fixture
async def ada(life: Life) -> Life:
    """Ada, who knows who she is, and has slept once on a talk about a garden."""
    await change_persona(
        life.graph, life.tenant_id, "ada", {"identity": IDENTITY}, now=BORN, consolidate_at="03:00"
    )
    await life.say(
        "My roses in the old garden have black spots.",
        "The greenhouse roof leaks when it rains.",
        "I live in Porto.",
        "My neighbour Kim waters the roses on Fridays.",
    )
    await make_checkpoints(life.graph, life.tenant_id, "monday", now=BORN + HOUR)
    await life.night()
    return life


async def context(
    life: Life, conversation_id: str = "monday", persona_id: str = "ada", **wanted: Any
) -> Context:
    recall = Recall(life.graph, life.embedder, seconds=0)
    return await assemble_context(
        life.graph,
        recall,
        life.embedder,
        life.caller,
        persona_id,
        Wanted(conversation_id, **wanted),
        now=LATER + DAY,
    )


async def waking(life: Life, **options: Any) -> Woken:
    return await hydrate(
        life.graph, life.embedder, life.tenant_id, "ada", now=LATER + DAY, **options
    )


def contents(pieces: list[Piece], layer: str) -> list[str]:
    return [piece.content for piece in pieces if piece.layer == layer]


@pytest.mark.spec("CTX-01", "CTX-05")
async def test_four_layers_in_order_each_piece_with_its_source(ada: Life) -> None:
    await ada.say("Who waters my roses when I am away?", at=LATER)

    told = await context(ada, turns=1)

    layers = [piece.layer for piece in told.pieces]
    assert list(dict.fromkeys(layers)) == ["identity", "topic", "working", "cold"]
    assert contents(told.pieces, "identity") == [IDENTITY]
    assert contents(told.pieces, "working") == ["Who waters my roses when I am away?"]
    cold = [piece for piece in told.pieces if piece.layer == "cold" and piece.memory_id]
    assert "Kim waters the roses" in cold[0].content
    assert all(piece.score is not None and piece.said_at for piece in cold)
    facts = [piece.content for piece in told.pieces if piece.layer == "topic" and piece.memory_id]
    assert "Sam lives in Porto." in facts
    summed_up = [piece for piece in told.pieces if piece.layer == "cold" and piece.checkpoint_id]
    assert len(summed_up) == 1
    assert "roses" in summed_up[0].content
    for piece in told.pieces[1:]:
        sources = [piece.message_id, piece.memory_id, piece.checkpoint_id]
        assert len([it for it in sources if it]) == 1
    assert all(piece.tokens > 0 for piece in told.pieces)
    assert told.tokens == sum(piece.tokens for piece in told.pieces) <= told.budget
    assert told.left_out == []
    assert told.recall_id


@pytest.mark.spec("CTX-01", "CTX-05")
async def test_a_small_budget_keeps_what_matters_and_tells_what_it_left_out(ada: Life) -> None:
    await ada.say("Who waters my roses when I am away?", at=LATER)
    whole = await context(ada)

    for budget in range(20, whole.tokens + 20, 7):
        told = await context(ada, budget=budget)
        assert told.tokens <= budget
        assert told.pieces[0].content == IDENTITY
        shown = contents(told.pieces, "working")
        assert shown == contents(whole.pieces, "working")[len(whole_working(whole)) - len(shown) :]
        seen = len(told.pieces) + len(told.left_out)
        assert seen == len(whole.pieces)
    with pytest.raises(Invalid, match="identity alone"):
        await context(ada, budget=3)


def whole_working(told: Context) -> list[str]:
    return contents(told.pieces, "working")


@pytest.mark.spec("CTX-01")
async def test_tokens_are_those_of_the_model(ada: Life, settings: Settings) -> None:
    embedder = open_embedder(settings)
    try:
        counted = await embedder.count(["Hello world!", "", "unbelievably"])
    finally:
        embedder.close()

    assert counted == [3, 0, 5]


@pytest.mark.spec("CTX-02", "CTX-03")
async def test_what_is_flagged_is_in_no_layer_whatever_is_asked(ada: Life) -> None:
    (vault,) = await ada.say("The vault in the cellar opens with seven nine one.", at=LATER)
    await ada.say("Bread and cheese were on the kitchen table.", at=LATER + HOUR)
    await make_checkpoints(ada.graph, ada.tenant_id, "monday", now=LATER + 2 * HOUR)
    before = await context(ada, query="bread and cheese on the kitchen table")
    assert any("vault" in piece.content for piece in before.pieces)

    await flag_message(ada.graph, Templates(), ada.caller, vault, RULES, now=LATER + 2 * HOUR)
    told = await context(ada, query="bread and cheese on the kitchen table")
    awake = await waking(ada)

    assert not any("vault" in piece.content for piece in [*told.pieces, *awake.pieces])
    assert told.flagged == 1
    assert not any(piece.content == PLACEHOLDER for piece in told.pieces)  # nobody answered it


@pytest.mark.spec("CTX-04")
async def test_what_comes_back_for_want_of_better_is_marked(ada: Life) -> None:
    (vault,) = await ada.say("The vault in the cellar opens with seven nine one.", at=LATER)
    await ada.night(LATER + 2 * DAY)
    await flag_message(ada.graph, Templates(), ada.caller, vault, RULES, now=LATER + 2 * DAY)

    told = await context(ada, query="the vault in the cellar opens with")

    assert told.fallback
    (marked,) = [piece for piece in told.pieces if "vault" in piece.content]
    assert marked.deprioritized
    assert marked.hint


async def test_the_same_state_gives_the_same_context(ada: Life) -> None:
    await ada.say("Who waters my roses when I am away?", at=LATER)

    first, again = await context(ada), await context(ada)

    assert first.pieces == again.pieces
    assert first.left_out == again.left_out


async def test_nothing_is_told_twice(ada: Life) -> None:
    told = await context(ada, query="roses")

    said = contents(told.pieces, "working")
    assert len(said) == 4
    assert not any(it in piece for it in said for piece in contents(told.pieces, "cold"))


async def test_a_talk_that_has_not_begun_has_an_identity_and_nothing_else(life: Life) -> None:
    assert (await context(life)).pieces == []
    with pytest.raises(ConversationNotFound):
        await context(life, conversation_id="tuesday")
    with pytest.raises(PersonaNotFound):
        await context(life, persona_id="eve")


async def keep(life: Life, text: str, **options: Any) -> str:
    new = NewMemory(MemoryType.SEMANTIC, text, {}, **options)
    kept = await remember(life.graph, life.embedder, life.tenant_id, "ada", new, now=BORN)
    return kept.memory_id


@pytest.mark.spec("CTX-06")
async def test_waking_gathers_identity_pinned_project_and_recent(ada: Life) -> None:
    await keep(ada, "Sam is allergic to nuts.", pinned=True, importance=9)
    await keep(ada, "The pond needs a new pump.", project="pond", said_at=BORN - 90 * DAY)
    await ada.say("The first tomato is ripe.", at=LATER + HOUR)

    woken = await waking(ada, project="pond", seed=1)
    plain = await waking(ada, seed=1)

    assert contents(woken.pieces, "identity") == [IDENTITY]
    assert contents(woken.pieces, "pinned") == ["Sam is allergic to nuts."]
    assert contents(woken.pieces, "project") == ["The pond needs a new pump."]
    recent = contents(woken.pieces, "recent")
    assert "tomato" in recent[0]  # said today, and not yet a memory
    assert any("roses" in it for it in recent)
    assert contents(plain.pieces, "project") == []
    ids = [piece.memory_id for piece in woken.pieces if piece.memory_id]
    assert len(ids) == len(set(ids))


@pytest.mark.spec("CTX-06")
async def test_waking_keeps_to_its_budget_by_what_is_estimated(ada: Life) -> None:
    await keep(ada, "Sam is allergic to nuts.", pinned=True)
    whole = await waking(ada, seed=1)

    for budget in range(20, whole.tokens + 10, 9):
        woken = await waking(ada, seed=1, budget=budget)
        assert woken.tokens <= budget
        assert woken.pieces[0].content == IDENTITY
        assert len(woken.pieces) + len(woken.left_out) == len(whole.pieces)
    with pytest.raises(Invalid):
        await waking(ada, budget=2)


@pytest.mark.spec("CTX-07")
async def test_now_and_then_something_faded_comes_to_mind_by_its_seed(ada: Life) -> None:
    faded = await keep(ada, "The old mill burned down in spring.", said_at=BORN - 400 * DAY)
    put_away = await keep(ada, "The new mill has a blue door.", said_at=BORN - 400 * DAY)
    await ada.ask(
        "MATCH (m:Memory {tenant_id: $t, id: $id}) SET m.state = 'archived', m.archived_at = $at",
        id=faded,
        at=BORN,
    )
    await archive_memory(ada.graph, ada.caller, put_away, now=LATER)

    woken = {seed: await waking(ada, seed=seed) for seed in range(200)}
    surfaced = {
        seed: contents(it.pieces, "involuntary")
        for seed, it in woken.items()
        if contents(it.pieces, "involuntary")
    }

    assert all(it == ["The old mill burned down in spring."] for it in surfaced.values())
    assert 2 <= len(surfaced) <= 24  # of 200, at 5 %
    again = {seed for seed in range(200) if (await waking(ada, seed=seed)) == woken[seed]}
    assert again == set(range(200))
    await set_persona_policy(ada.graph, ada.tenant_id, "ada", Layer({"involuntary_rate": 1.0}))
    assert contents((await waking(ada, seed=3)).pieces, "involuntary")
    await set_persona_policy(ada.graph, ada.tenant_id, "ada", Layer({"involuntary_rate": 0.0}))
    assert not contents((await waking(ada, seed=3)).pieces, "involuntary")


@pytest.mark.spec("SEARCH-07")
async def test_what_it_wakes_up_with_was_not_used(ada: Life) -> None:
    before = await ada.everything()

    for seed in range(30):
        await waking(ada, seed=seed)
    await context(ada, query="roses")
    await Recall(ada.graph, ada.embedder, seconds=0).recall(
        ada.tenant_id, "ada", "roses", now=LATER
    )

    assert await ada.everything() == before
