"""Long messages: found by any part of them, forgotten and slept on as a whole."""

import time
from datetime import timedelta
from itertools import pairwise
from random import Random

import pytest

from engine import bounds
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message, undo_message
from engine.forgetting.models import ReversalSource
from engine.memory.items import ItemFilter, ItemOrder, list_items
from engine.memory.models import CandidateState, LinkType, Memory
from engine.models import MemoryType
from engine.recall.context import ContextRequest, assemble_context
from engine.recall.hydration import hydrate
from engine.recall.recall import Hit, Recall
from engine.talk.checkpoints import make_checkpoints
from tests.lives import BORN, FIRST_NIGHT, RULES, Life

pytestmark = pytest.mark.spec("SEARCH-10")

LATER = FIRST_NIGHT + timedelta(days=2)
START, MIDDLE, END = (
    "Grandmother hid the brass compass behind the cellar stove.",
    "Oswald painted seventeen herons onto the ferry ceiling.",
    "Tulips drowned when the quarry pump failed in Bergen.",
)
WORDS = [
    f"{first}{second}{last}"
    for first in ("bar", "con", "del", "mor", "tan")
    for second in ("e", "id", "os", "u")
    for last in ("bic", "lon", "num", "tra")
]
CODE = (
    "```python\ndef level(tank):\n    if tank.dry:\n        return 0\n    return tank.depth\n```\n"
)


def page(characters: int, seed: int = 0) -> str:
    """A text of about so many characters, with code and lists, and one sentence in each third."""
    random = Random(seed)  # not a secret

    def filler(length: int) -> str:
        parts: list[str] = []
        while sum(map(len, parts)) < length:
            said = " ".join(random.choices(WORDS, k=9)).capitalize()
            parts.append(random.choice([f"{said}. ", f"{said}. ", f"\n- {said}\n", f"\n{CODE}\n"]))
        return "".join(parts)

    third = (characters - 400) // 2
    text = f"{START} {filler(third)}\n\n{MIDDLE} {filler(third)}"
    return text[: characters - len(END) - 1] + f" {END}"


async def ask(life: Life, question: str) -> list[Hit]:
    recall = Recall(life.graph, life.embedder, seconds=0)
    return (await recall.recall(life.tenant_id, "ada", question, now=LATER)).hits


async def episodes(life: Life) -> list[Memory]:
    """The episodic memories, in the order of their passages."""
    memories = [
        memory
        for memory in await life.memories(now=LATER)
        if memory.memory_type is MemoryType.EPISODIC
    ]
    return sorted(memories, key=lambda memory: (memory.said_at, memory.memory_id))


@pytest.mark.parametrize("characters", [15_000, bounds.MESSAGE])
async def test_a_long_message_is_found_by_its_start_its_middle_and_its_end(
    life: Life, characters: int
) -> None:
    said = page(characters)
    await life.say(said)

    for sentence in (START, MIDDLE, END):
        best, *_ = await ask(life, sentence)
        assert best.passage is not None
        assert sentence in best.text
        assert sentence in said[best.passage.start : best.passage.end]
        assert len(best.text) < 4_000
        assert best.source_message_id == "m0000"

    await life.night()

    for sentence in (START, MIDDLE, END):
        best, *_ = await ask(life, sentence)
        assert best.state == "active"
        assert sentence in best.text


async def test_a_short_message_is_no_passage(life: Life) -> None:
    await life.say(START)

    (hit, *_) = await ask(life, START)

    assert hit.passage is None


async def test_a_context_of_few_tokens_has_the_passage_that_answers(life: Life) -> None:
    await life.say(page(15_000), "And what did Oswald do then?")
    recall = Recall(life.graph, life.embedder, seconds=0)
    request = ContextRequest("monday", "Oswald painted herons onto which ceiling?", budget=500)

    context = await assemble_context(
        life.graph, recall, life.embedder, life.caller, "ada", request, now=LATER
    )

    assert context.tokens <= 500
    (piece,) = [piece for piece in context.pieces if MIDDLE in piece.content]
    assert piece.passage is not None
    assert 1 < piece.passage.number < piece.passage.of
    # The turn itself does not fit: its beginning stands for it, and recall does not repeat that.
    beginnings = [piece for piece in context.pieces if START in piece.content]
    assert [(piece.layer, piece.message_id) for piece in beginnings] == [("working", "m0000")]


async def test_a_flag_and_its_undo_reach_every_passage(life: Life) -> None:
    await life.say(page(15_000))
    await life.night()
    await life.say(page(15_000, seed=1), at=LATER)
    before = await ask(life, MIDDLE)

    for message_id in ("m0000", "m0001"):
        await flag_message(life.graph, Templates(), life.caller, message_id, RULES, now=LATER)

    assert all(memory.weight_modifier < 1 for memory in await episodes(life))
    assert await life.candidates() == []
    assert len(await life.candidates(CandidateState.SUPPRESSED)) > 10
    assert [hit for hit in await ask(life, MIDDLE) if not hit.deprioritized] == []

    for message_id in ("m0000", "m0001"):
        source = ReversalSource.MEMORY_MANAGER
        await undo_message(life.graph, life.caller, message_id, source, RULES, now=LATER)

    assert [(hit.id, hit.score) for hit in await ask(life, MIDDLE)] == [
        (hit.id, hit.score) for hit in before
    ]
    assert await life.candidates(CandidateState.SUPPRESSED) == []
    assert len(await life.candidates()) > 10


async def test_passages_follow_each_other_and_are_related_only_to_other_messages(
    life: Life,
) -> None:
    await life.say(page(8_000), page(8_000, seed=1), "The barenum and the tanutra.")
    await life.night()

    order = [memory.memory_id for memory in await episodes(life)]
    numbers = [
        memory.content.get("passage", {}).get("number", 1) for memory in await episodes(life)
    ]
    links = await life.links()
    precedes = [(link.from_id, link.to_id) for link in links if link.type is LinkType.PRECEDES]
    source = {memory.memory_id: memory.source_message_ids for memory in await episodes(life)}

    first, second = numbers.index(1, 1), numbers.index(1, numbers.index(1, 1) + 1)
    assert numbers == [*range(1, first + 1), *range(1, second - first + 1), 1]
    assert sorted(precedes) == sorted(pairwise(order))
    related = [link for link in links if link.type is LinkType.RELATED and link.from_id in source]
    assert related
    assert all(source[link.from_id] != source.get(link.to_id) for link in related)


async def test_one_long_message_is_no_theme_however_often_it_says_a_word(life: Life) -> None:
    gardens = " ".join(
        f"The orchard {random_word} needs the orchard ladder and the orchard shears {n} times."
        for n, random_word in enumerate(WORDS * 6)
    )
    await life.say(gardens)
    await life.say(
        "The orchard is dry and the orchard ladder is broken.", at=BORN + timedelta(days=1)
    )
    await life.night(LATER)

    assert [memory for memory in await life.memories(now=LATER) if memory.distilled] == []


async def test_a_night_over_twenty_long_messages_ends_in_seconds(life: Life) -> None:
    pages = [page(bounds.MESSAGE, seed) for seed in range(20)]
    for number, content in enumerate(pages):
        await life.say(content, at=BORN + timedelta(minutes=5 * number))
    await make_checkpoints(life.graph, life.tenant_id, "monday", now=BORN + timedelta(hours=3))

    started = time.perf_counter()
    run = await life.night()
    seconds = time.perf_counter() - started

    formed = sum(stage.did.get("formed", 0) for stage in run.stages)
    assert formed > 20 * 50
    assert seconds < 120, f"{seconds:.1f} s for {formed} memories"  # a few on an idle machine


async def test_what_a_session_starts_with_is_the_beginning_of_a_long_message(life: Life) -> None:
    await life.say("Kim waters the roses on Fridays.", page(15_000))

    hydration = await hydrate(
        life.graph, life.embedder, life.tenant_id, "ada", now=LATER, recent=5, seed=1
    )

    recent = [piece for piece in hydration.pieces if piece.layer == "recent"]
    assert any("Kim waters" in piece.content for piece in recent)
    assert [piece.passage.number for piece in recent if piece.passage] == [1]


async def test_the_memory_manager_lists_each_passage_with_its_message(life: Life) -> None:
    await life.say(page(15_000))

    listed = await list_items(
        life.graph,
        life.caller,
        ItemFilter(persona_id="ada"),
        standing=None,
        sort=ItemOrder.NEWEST,
        cursor=None,
        limit=200,
    )

    episodic = [item for item in listed.items if item.memory_type is MemoryType.EPISODIC]
    assert len(episodic) > 10
    assert all(item.source_message_ids == ["m0000"] for item in episodic)
