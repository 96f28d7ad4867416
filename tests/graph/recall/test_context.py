"""What a persona is handed before it answers, and what it wakes up with."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from engine.access.personas import change_persona
from engine.embedding import open_embedder
from engine.errors import ConversationNotFound, Invalid, PersonaNotFound
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message
from engine.memory.memories import NewMemory, archive_memory, remember
from engine.models import MemoryType
from engine.policy.policy import Layer
from engine.policy.stored import set_persona_policy
from engine.recall.budget import Piece
from engine.recall.context import Context, ContextRequest, assemble_context
from engine.recall.hydration import Hydration, hydrate
from engine.recall.recall import Recall
from engine.recall.working_memory import PLACEHOLDER
from engine.settings import Settings
from engine.talk.checkpoints import make_checkpoints
from tests.lives import BORN, FIRST_NIGHT, RULES, Life

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
LATER = FIRST_NIGHT + DAY
IDENTITY = "You are Ada, a patient gardener who never hurries anybody."


@pytest.fixture
async def ada(life: Life) -> Life:
    """Ada, who knows who she is, and has slept once on a talk about a garden."""
    await change_persona(life.graph, life.tenant_id, "ada", {"identity": IDENTITY}, now=BORN)
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
        ContextRequest(conversation_id, **wanted),
        now=LATER + DAY,
    )


async def waking(life: Life, **options: Any) -> Hydration:
    return await hydrate(
        life.graph, life.embedder, life.tenant_id, "ada", now=LATER + DAY, **options
    )


def contents(pieces: list[Piece], layer: str) -> list[str]:
    return [piece.content for piece in pieces if piece.layer == layer]


@pytest.mark.spec("CTX-01", "CTX-05")
async def test_four_layers_in_order_each_piece_with_its_source(ada: Life) -> None:
    await ada.say("Who waters my roses when I am away?", at=LATER)

    assembled = await context(ada, turns=1)

    layers = [piece.layer for piece in assembled.pieces]
    assert list(dict.fromkeys(layers)) == ["identity", "topic", "working", "cold"]
    assert contents(assembled.pieces, "identity") == [IDENTITY]
    assert contents(assembled.pieces, "working") == ["Who waters my roses when I am away?"]
    cold = [piece for piece in assembled.pieces if piece.layer == "cold" and piece.memory_id]
    assert "Kim waters the roses" in cold[0].content
    assert all(piece.score is not None and piece.said_at for piece in cold)
    facts = [
        piece.content for piece in assembled.pieces if piece.layer == "topic" and piece.memory_id
    ]
    assert "Sam lives in Porto." in facts
    summed_up = [
        piece for piece in assembled.pieces if piece.layer == "cold" and piece.checkpoint_id
    ]
    assert len(summed_up) == 1
    assert "roses" in summed_up[0].content
    for piece in assembled.pieces[1:]:
        sources = [piece.message_id, piece.memory_id, piece.checkpoint_id]
        assert len([source for source in sources if source]) == 1
    assert all(piece.tokens > 0 for piece in assembled.pieces)
    assert assembled.tokens == sum(piece.tokens for piece in assembled.pieces) <= assembled.budget
    assert assembled.left_out == []
    assert assembled.recall_id


@pytest.mark.spec("CTX-01", "CTX-05")
async def test_a_small_budget_keeps_what_matters_and_tells_what_it_left_out(ada: Life) -> None:
    await ada.say("Who waters my roses when I am away?", at=LATER)
    whole = await context(ada)

    for budget in range(20, whole.tokens + 20, 7):
        assembled = await context(ada, budget=budget)
        assert assembled.tokens <= budget
        assert assembled.pieces[0].content == IDENTITY
        shown = contents(assembled.pieces, "working")
        assert (
            shown == contents(whole.pieces, "working")[len(working_contents(whole)) - len(shown) :]
        )
        seen = len(assembled.pieces) + len(assembled.left_out)
        assert seen == len(whole.pieces)
    with pytest.raises(Invalid, match="identity alone"):
        await context(ada, budget=3)


def working_contents(assembled: Context) -> list[str]:
    return contents(assembled.pieces, "working")


@pytest.mark.spec("CTX-01")
async def test_tokens_are_those_of_the_model(ada: Life, settings: Settings) -> None:
    embedder = open_embedder(settings)
    try:
        counted = await embedder.count_tokens(["Hello world!", "", "unbelievably"])
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
    assembled = await context(ada, query="bread and cheese on the kitchen table")
    awake = await waking(ada)

    assert not any("vault" in piece.content for piece in [*assembled.pieces, *awake.pieces])
    assert assembled.flagged == 1
    assert not any(piece.content == PLACEHOLDER for piece in assembled.pieces)  # nobody answered it


@pytest.mark.spec("CTX-04")
async def test_what_comes_back_for_want_of_better_is_marked(ada: Life) -> None:
    (vault,) = await ada.say("The vault in the cellar opens with seven nine one.", at=LATER)
    await ada.night(LATER + 2 * DAY)
    await flag_message(ada.graph, Templates(), ada.caller, vault, RULES, now=LATER + 2 * DAY)

    assembled = await context(ada, query="the vault in the cellar opens with")

    assert assembled.fallback
    (marked,) = [piece for piece in assembled.pieces if "vault" in piece.content]
    assert marked.deprioritized
    assert marked.hint


async def grimwald(life: Life) -> list[str]:
    """A talk about a lawyer and an oven, with its checkpoint. Returns what speaks of the lawyer."""
    said = await life.say(
        "Grimwald the lawyer wrote about the divorce.",
        "The divorce from Pat costs more than the oven.",
        "Grimwald wants the divorce papers signed.",
        "The oven still burns the bread on the left.",
        "I bought a thermometer for the oven.",
        at=LATER,
    )
    await make_checkpoints(life.graph, life.tenant_id, "monday", now=LATER + HOUR)
    return said[:3]


async def flag(life: Life, *message_ids: str, at: timedelta = 2 * HOUR) -> None:
    for message_id in message_ids:
        await flag_message(life.graph, Templates(), life.caller, message_id, RULES, now=LATER + at)


def words_in(pieces: Sequence[Piece]) -> set[str]:
    return {word.lower() for piece in pieces for word in re.findall(r"\w+", piece.content)}


@pytest.mark.spec("CTX-02")
@pytest.mark.parametrize("slept", [False, True])
async def test_no_word_that_only_flagged_messages_say_is_handed_out(
    ada: Life, *, slept: bool
) -> None:
    lawyer = await grimwald(ada)
    if slept:
        await ada.night(LATER + 2 * DAY)
    before = await context(ada)
    assert {"grimwald", "divorce"} <= words_in(before.pieces)
    (labelled,) = [
        piece for piece in before.pieces if piece.layer == "topic" and piece.checkpoint_id
    ]
    assert "divorce" in labelled.content.lower()

    await flag(ada, *lawyer, at=2 * DAY)
    assembled = [await context(ada), await context(ada, turns=1), await context(ada, turns=2)]
    assembled += [
        await context(ada, query=query) for query in ("the oven", "roses in the old garden")
    ]
    hydrated = [await waking(ada, seed=seed) for seed in range(3)]

    for pieces in [result.pieces for result in assembled] + [result.pieces for result in hydrated]:
        unmarked = [piece for piece in pieces if not piece.deprioritized]
        assert not {"grimwald", "divorce", "lawyer", "pat"} & words_in(unmarked)
    (labelled,) = [
        piece for piece in assembled[0].pieces if piece.layer == "topic" and piece.checkpoint_id
    ]
    assert labelled.content == "Oven"
    checkpoints = await ada.ask("MATCH (c:Checkpoint {tenant_id: $t}) RETURN c.label AS label")
    assert any(
        "divorce" in checkpoint["label"].lower() for checkpoint in checkpoints
    )  # for people to find checkpoint


@pytest.mark.spec("CTX-02")
async def test_with_everything_flagged_a_persona_still_has_in_mind_what_it_must(
    ada: Life,
) -> None:
    nuts = await keep(ada, "Sam is allergic to nuts.", pinned=True, importance=9)
    said = await ada.ask(
        "MATCH (m:Message {tenant_id: $t, conversation_id: 'monday'}) RETURN m.id AS id"
    )
    await flag(ada, *(message["id"] for message in said))

    assembled = await context(ada)
    few = await context(ada, memories=0)

    assert contents(assembled.pieces, "working") == []
    assert contents(assembled.pieces, "cold") == ["Sam is allergic to nuts."]
    assert [piece.memory_id for piece in few.pieces if piece.layer == "cold"] == [nuts]
    assert assembled.recall_id is None
    assert all(piece.score is None for piece in assembled.pieces)  # nobody asked for it


@pytest.mark.spec("CTX-01")
async def test_what_is_pinned_has_a_place_in_every_context_and_once(ada: Life) -> None:
    await keep(ada, "Sam is allergic to nuts.", pinned=True, importance=9)
    await ada.say("Who waters my roses when I am away?", at=LATER)

    far = await context(ada)
    near = await context(ada, query="is Sam allergic to nuts")

    for assembled in (far, near):
        assert [piece.content for piece in assembled.pieces].count("Sam is allergic to nuts.") == 1
    (piece,) = [piece for piece in near.pieces if "nuts" in piece.content]
    assert piece.score is not None


@pytest.mark.spec("CTX-02", "CTX-03")
async def test_a_long_flagged_stretch_leaves_working_memory_as_long_as_wanted(
    life: Life,
) -> None:
    kept = await life.say(*(f"Kept thing number {number}." for number in range(6)))
    flagged = await life.say(
        *(f"Flagged thing number {number}." for number in range(60)), at=BORN + HOUR
    )
    for turn in (2, 3, 5):
        assert contents((await context(life, turns=turn)).pieces, "working")
    await life.ask(
        "MATCH (m:Message {tenant_id: $t}) WHERE m.id IN $ids SET m.flagged = true",
        ids=flagged,
    )

    assembled = {turns: await context(life, turns=turns) for turns in (1, 2, 5, 6, 20)}

    for turns, result in assembled.items():
        shown = [piece.message_id for piece in result.pieces if piece.layer == "working"]
        assert shown == kept[-turns:]
    await life.ask(
        """
        MATCH (m:Message {tenant_id: $t, id: $id}) SET m.role = 'persona'""",
        id=kept[-1],
    )
    await life.ask(
        "MATCH (m:Message {tenant_id: $t}) WHERE m.id IN $ids SET m.flagged = true",
        ids=kept[:-1],
    )
    answered = contents((await context(life, turns=1)).pieces, "working")
    assert answered == [PLACEHOLDER, "Kept thing number 5."]


@pytest.mark.spec("CTX-01")
async def test_turns_of_the_same_second_stand_in_the_order_they_arrived(life: Life) -> None:
    said = [(await life.say(f"Thing {name}."))[0] for name in ("d", "a", "c", "b")]

    assembled = {turns: await context(life, turns=turns) for turns in (1, 2, 20)}

    for turns, result in assembled.items():
        shown = [piece.message_id for piece in result.pieces if piece.layer == "working"]
        assert shown == said[-turns:]


@pytest.mark.spec("CTX-01", "CTX-05")
async def test_instructions_and_preferences_stand_before_the_facts_of_every_context(
    ada: Life,
) -> None:
    await ada.say("Always show types in code.", "I prefer short walks.", at=LATER)
    await ada.say("The bus was late.", at=LATER + HOUR)

    pieces = (await context(ada, query="Where does Sam live?", turns=1)).pieces
    topic = [piece for piece in pieces if piece.layer == "topic"]

    texts = [piece.content for piece in topic]
    asked = texts.index("Sam asked to always show types in code.")
    assert asked < texts.index("Sam prefers short walks.") < texts.index("Sam lives in Porto.")
    assert all(piece.memory_id or piece.checkpoint_id for piece in topic)
    assert all(piece.tokens for piece in topic)
    hydration = await waking(ada)
    assert [piece.content for piece in hydration.pieces if piece.layer == "standing"] == [
        "Sam asked to always show types in code.",
        "Sam prefers short walks.",
    ]


async def test_an_instruction_that_was_taken_back_or_forgotten_is_in_no_context(ada: Life) -> None:
    first = await ada.say("Always cite sources.", "Always name the river.", at=LATER)
    await ada.say("Stop citing sources.", at=LATER + HOUR)
    await flag_message(ada.graph, Templates(), ada.caller, first[1], RULES, now=LATER + 2 * HOUR)
    await ada.say("The bus was late.", at=LATER + 3 * HOUR)

    told = [piece.content for piece in (await context(ada, query="a bridge", turns=1)).pieces]

    assert "Sam asked to no longer cite sources." in told
    assert "Sam asked to always cite sources." not in told
    assert not [text for text in told if "river" in text]


@pytest.mark.spec("CTX-01")
async def test_what_stands_in_working_memory_is_not_summed_up_again(ada: Life) -> None:
    lawyer = await grimwald(ada)
    await flag(ada, *lawyer)

    assembled = await context(ada, turns=2)

    shown = contents(assembled.pieces, "working")
    assert len(shown) == 2
    summed_up = [
        piece for piece in assembled.pieces if piece.layer == "cold" and piece.checkpoint_id
    ]
    assert not any(text in piece.content for text in shown for piece in summed_up)


async def test_the_same_state_gives_the_same_context(ada: Life) -> None:
    await ada.say("Who waters my roses when I am away?", at=LATER)

    first, again = await context(ada), await context(ada)

    assert first.pieces == again.pieces
    assert first.left_out == again.left_out


async def test_nothing_is_told_twice(ada: Life) -> None:
    assembled = await context(ada, query="roses")

    said = contents(assembled.pieces, "working")
    assert len(said) == 4
    assert not any(text in piece for text in said for piece in contents(assembled.pieces, "cold"))


async def test_a_talk_that_has_not_begun_has_an_identity_and_nothing_else(life: Life) -> None:
    assert (await context(life)).pieces == []
    with pytest.raises(ConversationNotFound):
        await context(life, conversation_id="tuesday")
    with pytest.raises(PersonaNotFound):
        await context(life, persona_id="eve")


async def keep(life: Life, text: str, **options: Any) -> str:
    new = NewMemory(MemoryType.SEMANTIC, text, {}, **options)
    kept = await remember(life.graph, life.embedder, life.caller, "ada", new, now=BORN)
    return kept.memory_id


@pytest.mark.spec("CTX-06")
async def test_waking_gathers_identity_pinned_project_and_recent(ada: Life) -> None:
    await keep(ada, "Sam is allergic to nuts.", pinned=True, importance=9)
    await keep(ada, "The pond needs a new pump.", project="pond", said_at=BORN - 90 * DAY)
    await ada.say("The first tomato is ripe.", at=LATER + HOUR)

    hydrated = await waking(ada, project="pond", seed=1)
    plain = await waking(ada, seed=1)

    assert contents(hydrated.pieces, "identity") == [IDENTITY]
    assert contents(hydrated.pieces, "pinned") == ["Sam is allergic to nuts."]
    assert contents(hydrated.pieces, "project") == ["The pond needs a new pump."]
    recent = contents(hydrated.pieces, "recent")
    assert "tomato" in recent[0]  # said today, and not yet a memory
    assert any("roses" in text for text in recent)
    assert contents(plain.pieces, "project") == []
    ids = [piece.memory_id for piece in hydrated.pieces if piece.memory_id]
    assert len(ids) == len(set(ids))


@pytest.mark.spec("CTX-06")
async def test_waking_keeps_to_its_budget_by_what_is_estimated(ada: Life) -> None:
    await keep(ada, "Sam is allergic to nuts.", pinned=True)
    whole = await waking(ada, seed=1)

    for budget in range(20, whole.tokens + 10, 9):
        hydrated = await waking(ada, seed=1, budget=budget)
        assert hydrated.tokens <= budget
        assert hydrated.pieces[0].content == IDENTITY
        assert len(hydrated.pieces) + len(hydrated.left_out) == len(whole.pieces)
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

    hydrated = {seed: await waking(ada, seed=seed) for seed in range(200)}
    surfaced = {
        seed: contents(result.pieces, "involuntary")
        for seed, result in hydrated.items()
        if contents(result.pieces, "involuntary")
    }

    assert all(texts == ["The old mill burned down in spring."] for texts in surfaced.values())
    assert 2 <= len(surfaced) <= 24  # of 200, at 5 %
    again = {seed for seed in range(200) if (await waking(ada, seed=seed)) == hydrated[seed]}
    assert again == set(range(200))
    await set_persona_policy(
        ada.graph, ada.tenant_id, "ada", Layer({"involuntary_recall_rate": 1.0})
    )
    assert contents((await waking(ada, seed=3)).pieces, "involuntary")
    await set_persona_policy(
        ada.graph, ada.tenant_id, "ada", Layer({"involuntary_recall_rate": 0.0})
    )
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
