"""Recall on a real graph: what is found, what is left out, and what each score is made of."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY

from engine.access.models import Persona, Tone
from engine.access.personas import add_persona
from engine.embedding import open_embedder
from engine.errors import IdTaken, Invalid, MessageNotFound, PersonaNotFound
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message, undo_message
from engine.forgetting.models import ReversalSource
from engine.memory.duplicates import duplicate_persona
from engine.memory.links import add_link
from engine.memory.memories import NewMemory, change_memory, minimize_memory, remember
from engine.memory.models import LinkType
from engine.models import MemoryType
from engine.recall import hot_index
from engine.recall.graph_index import GraphIndex
from engine.recall.recall import Hit, Recall, RecallResult
from engine.recall.search import Filters
from engine.settings import Settings
from tests.lives import BORN, FIRST_NIGHT, RULES, Life

DAY = timedelta(days=1)
LATER = FIRST_NIGHT + DAY
RECALLS: dict[tuple[str, str], Recall] = {}  # of the running test, by tenant and model
OPEN: dict[str, int] = {}


@pytest.fixture(autouse=True, params=["graph", "memory", "small persona"])
async def index(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[None]:
    """Every test runs with both indexes: each answers alike, and however a persona was loaded."""
    OPEN["hot_bytes"] = 0 if request.param == "graph" else 2**26
    if request.param == "memory":
        monkeypatch.setattr(hot_index, "SMALL_ITEMS", 0)
    yield
    for recalls in RECALLS.values():
        await recalls.close()
    RECALLS.clear()


def recalls_of(life: Life) -> Recall:
    """The same for a whole test, so that one in memory has to follow what changes."""
    key = (life.tenant_id, life.embedder.model)
    if key not in RECALLS:
        hot_bytes = OPEN["hot_bytes"]
        RECALLS[key] = Recall(life.graph, life.embedder, seconds=0, hot_bytes=hot_bytes)
    return RECALLS[key]


async def recall(life: Life, asked: str, persona_id: str = "ada", **options: Any) -> RecallResult:
    """What a persona recalls; from memory, if it is kept there, from the second question on."""
    options.setdefault("now", LATER)
    index = recalls_of(life)
    first = await index.recall(life.tenant_id, persona_id, asked, **options)
    await index.loaded()
    again = await index.recall(life.tenant_id, persona_id, asked, **options)
    # Of many that are equally good, the graph may propose others than the first by their ids.
    assert [hit.id for hit in again.hits[:5]] == [hit.id for hit in first.hits[:5]]
    return again


async def recalled_ids(life: Life, asked: str, **options: Any) -> list[str]:
    return [hit.id for hit in (await recall(life, asked, **options)).hits]


async def keep(life: Life, text: str, **options: Any) -> str:
    kind = options.pop("memory_type", MemoryType.SEMANTIC)
    content = options.pop("content", {})
    new = NewMemory(kind, text, content, chosen_id=text.replace(" ", "-"), **options)
    kept = await remember(life.graph, life.embedder, life.caller, "ada", new, now=BORN)
    return kept.memory_id


@pytest.mark.spec("SEARCH-01")
async def test_words_and_meaning_find_it_and_the_modifier_turns_it_down(life: Life) -> None:
    tea, coffee, boat = await life.remember(
        "green tea in the garden", "black coffee in the garden", "a boat on the lake"
    )

    assert (await recalled_ids(life, "who drinks tea in the garden"))[:2] == [tea, coffee]
    before = {hit.id: hit for hit in (await blended(life)).hits}
    await minimize_memory(life.graph, life.caller, tea, modifier=0.25, now=LATER)
    after = {hit.id: hit for hit in (await blended(life)).hits}

    assert after[tea].score == pytest.approx(0.25 * before[tea].score, abs=1e-3)
    assert after[coffee].score == pytest.approx(before[coffee].score, abs=0.05)
    assert (await recalled_ids(life, "who drinks tea in the garden"))[0] == coffee
    assert boat in after


async def blended(life: Life) -> RecallResult:
    """Without what spreads along links, which are turned down as well."""
    return await recall(life, "tea in the garden", profile="published")


@pytest.mark.spec("SEARCH-01")
async def test_a_persona_finds_only_what_is_its_own_however_many_others_know_more(
    life: Life,
) -> None:
    eve = Persona("eve", "Eve", Tone.WARM, "UTC", BORN, BORN)
    await add_persona(life.graph, life.tenant_id, eve)
    for place in range(130):
        new = NewMemory(MemoryType.SEMANTIC, f"the silver key is under stone {place}", {})
        await remember(life.graph, life.embedder, life.caller, "eve", new, now=BORN)
    mine = await keep(life, "somewhere is a silver key")

    assert await recalled_ids(life, "the silver key is under stone 7") == [mine]
    theirs = await recalled_ids(life, "the silver key is under stone 7", persona_id="eve", limit=50)
    assert len(theirs) == 50
    assert mine not in theirs


@pytest.mark.spec("SEARCH-01")
async def test_the_published_blend_is_a_profile_of_its_own(life: Life) -> None:
    (tea,) = await life.remember("green tea in the garden")

    explanation = (
        (await recall(life, "green tea", profile="published", explain=True)).hits[0].explain
    )

    assert explanation
    parts = explanation["signals"]
    assert (parts["full_text"]["weight"], parts["vector"]["weight"]) == (0.2, 0.8)
    assert {*parts} == {"full_text", "vector", "importance", "recency", "pinned", "access"}
    assert 0.5 < parts["full_text"]["signal"] < 1  # of a perfect match
    assert 0.5 < parts["vector"]["signal"] < 1
    assert await recalled_ids(life, "green tea", profile="published") == [tea]


@pytest.mark.spec("SEARCH-04")
@pytest.mark.parametrize("profile", ["woven", "published"])
async def test_every_part_of_a_score_is_told_and_they_add_up(life: Life, profile: str) -> None:
    ids = await life.remember("tea with Kim", "tea alone", "coffee with Kim", "rain all day")
    await change_memory(
        life.graph, life.caller, ids[1], changes={"pinned": True, "importance": 9}, now=FIRST_NIGHT
    )
    await life.use(ids[0], ids[2], at=FIRST_NIGHT)

    hits = (await recall(life, "who had tea?", profile=profile, explain=True)).hits

    assert len(hits) == 4
    for hit in hits:
        assert hit.explain
        parts = hit.explain["signals"].values()
        for part in parts:
            assert part["part"] == pytest.approx(part["signal"] * part["weight"], abs=1e-3)
        total = sum(part["part"] for part in parts) + hit.explain["spread"]
        assert hit.score == pytest.approx(total * hit.explain["weight_modifier"], abs=1e-2)
    pinned = next(hit for hit in hits if hit.id == ids[1]).explain
    assert pinned
    assert pinned["signals"]["pinned"]["signal"] == 1.0
    assert pinned["signals"]["importance"]["signal"] == 0.8
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.spec("SEARCH-02")
async def test_what_stands_out_lifts_what_it_is_linked_to_by_strength_and_modifier(
    life: Life,
) -> None:
    first, near, far = await life.remember(
        "the lighthouse keeper told me a secret", "we ate bread", "we drank milk"
    )
    for number in range(12):  # so that somebody can stand out
        await keep(life, f"shopping list number {number}")
    plain = await scores(life, [near, far])
    await add_link(
        life.graph, life.caller, first, near, LinkType.CAUSALLY_LINKED, strength=0.9, now=BORN
    )
    await add_link(
        life.graph, life.caller, first, far, LinkType.CAUSALLY_LINKED, strength=0.3, now=BORN
    )
    linked = await scores(life, [near, far])
    await life.ask(
        """
        MATCH (:Memory {tenant_id: $t, id: $id})-[link:CAUSALLY_LINKED]->()
        SET link.weight_modifier = 0.1""",
        id=first,
    )
    await life.graph.write(  # as every statement of the engine does that changes a link
        "memory/changes/log_changes",
        tenant_id=life.tenant_id,
        persona_id="ada",
        item_ids=[first, near, far],
    )
    faint = await scores(life, [near, far])

    assert linked[near] - plain[near] > linked[far] - plain[far] > 0
    assert 0 < faint[near] - plain[near] < 0.2 * (linked[near] - plain[near])


async def scores(life: Life, ids: Sequence[str]) -> dict[str, float]:
    hits = (await recall(life, "the lighthouse keeper's secret", limit=50)).hits
    return {hit.id: hit.score for hit in hits if hit.id in ids}


@pytest.mark.spec("SEARCH-02")
async def test_two_hops_along_a_sequence_lead_to_what_no_word_leads_to(life: Life) -> None:
    await life.say(
        "The lighthouse keeper told me a secret last night.",
        "Bread was all we had for dinner then.",
        "Milk came from the neighbour over the hill.",
    )
    await life.night()
    for number in range(150):  # more than are looked at closely
        await keep(life, f"lighthouse shopping list number {number}")

    hits = (await recall(life, "What secret did the keeper tell?", limit=50, explain=True)).hits

    spread = {hit.text: hit.explain["spread"] for hit in hits if hit.explain}
    (milk,) = [amount for text, amount in spread.items() if "Milk" in text]
    (bread,) = [amount for text, amount in spread.items() if "Bread" in text]
    assert bread > milk > 0


@pytest.mark.spec("SEARCH-03", "SEARCH-04")
async def test_filters_by_type_category_tag_project_time_and_state(life: Life) -> None:
    fact = await keep(
        life,
        "Sam likes tea a lot",
        content={"subject": "Sam", "category": "preference"},
        tags=["drinks", "home"],
        project="garden",
    )
    plan = await keep(
        life,
        "Sam will buy tea",
        content={"subject": "Sam", "category": "plan"},
        tags=["drinks"],
        said_at=BORN - 10 * DAY,
    )
    episode = await keep(life, "We had tea", memory_type=MemoryType.EPISODIC)
    waiting = await life.propose("There was tea today", at=LATER - timedelta(hours=1))
    await life.ask("MATCH (m:Memory {tenant_id: $t, id: $id}) SET m.state = 'archived'", id=episode)

    async def only(**filters: Any) -> set[str]:
        return set(await recalled_ids(life, "tea", filters=Filters(**filters)))

    assert await only() == {fact, plan, waiting}
    assert await only(include_archived=True) == {fact, plan, waiting, episode}
    assert await only(include_pending=False) == {fact, plan}
    assert await only(types=(MemoryType.EPISODIC,)) == {waiting}
    assert await only(categories=("preference",)) == {fact}
    assert await only(tags=("drinks",)) == {fact, plan}
    assert await only(tags=("drinks", "home")) == {fact}
    assert await only(project="garden") == {fact}
    assert await only(to_at=BORN - DAY) == {plan}
    assert await only(from_at=BORN - DAY, to_at=BORN + timedelta(hours=1)) == {fact}
    assert (await life.memory(episode)).text == "We had tea"  # by its id it is always there


@pytest.mark.spec("SEARCH-04")
async def test_pages_follow_each_other_without_a_gap_or_a_repeat(life: Life) -> None:
    ids = [await keep(life, f"tea number {number}") for number in range(23)]
    whole = await recalled_ids(life, "tea", limit=50)
    pages, cursor = [], None
    while True:
        page = await recall(life, "tea", limit=5, cursor=cursor)
        pages.append([hit.id for hit in page.hits])
        cursor = page.next_cursor
        if cursor is None:
            break

    assert [len(page) for page in pages] == [5, 5, 5, 5, 3]
    assert [id_ for page in pages for id_ in page] == whole
    assert set(whole) == set(ids)
    with pytest.raises(Invalid):
        await recall(life, "tea", cursor="bm9uc2Vuc2U")


@pytest.mark.spec("SEARCH-09")
async def test_what_was_said_today_is_found_today_and_after_the_night(life: Life) -> None:
    await life.say("My sister Julia moved to Lisbon with her two cats.")

    (today,) = {hit.text: hit for hit in await hits_of_type(life, "Where did Julia move?")}.values()
    await life.night()
    (later,) = await hits_of_type(life, "Where did Julia move?")

    assert (today.state, later.state) == ("pending", "active")
    assert today.id == later.id
    assert later.said_at == BORN


async def hits_of_type(life: Life, asked: str) -> list[Hit]:
    episodes = Filters(types=(MemoryType.EPISODIC,))
    return (await recall(life, asked, filters=episodes)).hits


@pytest.mark.spec("SEARCH-09")
async def test_what_is_remembered_at_once_is_found_at_once(life: Life) -> None:
    kept = await keep(life, "the spare key hangs behind the clock")

    (hit,) = (await recall(life, "where is the spare key?")).hits

    assert (hit.id, hit.state) == (kept, "active")


async def test_an_id_is_taken_once_and_what_is_refused_changes_nothing(life: Life) -> None:
    kept = await keep(life, "the spare key hangs behind the clock")
    waiting = await life.propose("something else", chosen_id="waiting")
    said, other = await life.say("A flagged thing.", "Another thing I said.")
    await flag_message(life.graph, Templates(), life.caller, said, RULES, now=LATER)
    before = await life.everything()

    async def again(**given: Any) -> None:
        values = {"memory_type": MemoryType.SEMANTIC, "text": "new", "content": {}, **given}
        new = NewMemory(**values)
        await remember(life.graph, life.embedder, life.caller, "ada", new, now=LATER)

    for refused, given in (
        (IdTaken, {"chosen_id": kept}),
        (IdTaken, {"chosen_id": kept, "memory_type": MemoryType.SOMATIC}),
        (IdTaken, {"chosen_id": waiting}),
        (Invalid, {"source_message_ids": [other, said]}),
        (MessageNotFound, {"source_message_ids": [other, "nobody said it"]}),
    ):
        with pytest.raises(refused):
            await again(**given)
    await keep(life, "the spare key hangs behind the clock")  # the same again is the same

    assert await life.everything() == before


async def test_as_of_answers_as_it_would_have_then(life: Life) -> None:
    await life.say("I live in Lisbon.")
    await life.night()
    await life.say("I live in Porto now.", at=BORN + 10 * DAY)
    await life.night(FIRST_NIGHT + 10 * DAY)
    facts = Filters(types=(MemoryType.SEMANTIC,))

    now = await recall(life, "where does Sam live?", filters=facts, now=FIRST_NIGHT + 12 * DAY)
    then = await recall(
        life,
        "where does Sam live?",
        filters=facts,
        now=FIRST_NIGHT + 12 * DAY,
        as_of=BORN + 5 * DAY,
    )

    assert [hit.text for hit in now.hits] == ["Sam lives in Porto."]
    assert [hit.text for hit in then.hits] == ["Sam lives in Lisbon."]


@pytest.mark.spec("SEARCH-04")
async def test_what_was_drawn_from_one_turn_is_reached_after_the_best_of_every_turn(
    life: Life,
) -> None:
    (said,) = await life.say("The lighthouse keeper collects many things.")
    facts = [
        await life.propose(
            f"The keeper collects thing {number}",
            memory_type=MemoryType.SEMANTIC,
            sources=[said],
            subject="keeper",
            thing=number,
        )
        for number in range(9)
    ]
    (other,) = await life.say("The keeper collects rain.", at=BORN + timedelta(hours=1))

    hits, cursor = [], None
    while True:
        page = await recall(life, "What does the keeper collect?", limit=3, cursor=cursor)
        hits += page.hits
        cursor = page.next_cursor
        if cursor is None:
            break

    assert len({hit.id for hit in hits}) == len(hits)
    assert set(facts) <= {hit.id for hit in hits}
    assert {hit.source_message_id for hit in hits[:2]} == {said, other}
    alone = await recall(life, "What does the keeper collect?", limit=50)
    assert [hit.id for hit in alone.hits] == [hit.id for hit in hits]


async def test_what_was_said_in_the_same_second_is_told_apart(life: Life) -> None:
    for text in ("The red boat sank.", "The blue boat sailed.", "The green boat burned."):
        await life.say(text)  # all of them at the same time

    first = (await recall(life, "What happened to the boat?", limit=3)).hits

    assert {hit.source_message_id for hit in first} == {"m0000", "m0001", "m0002"}


@pytest.mark.spec("SEARCH-04")
async def test_a_filter_finds_what_it_selects_however_far_it_is_from_the_question(
    life: Life,
) -> None:
    far = {
        "project": await keep(life, "Zinnias need lime", project="garden"),
        "tags": await keep(life, "Bolts rust in brine", tags=["shed", "iron"]),
        "categories": await keep(life, "Moths eat wool", content={"category": "pest"}),
    }
    for number in range(160):  # more than a search by meaning and by words brings
        await keep(life, f"green tea in the morning number {number}")
    asked = "green tea in the morning"

    async def only(**filters: Any) -> list[str]:
        return await recalled_ids(life, asked, filters=Filters(**filters))

    async def tag(memory_id: str, tags: list[str]) -> None:
        await change_memory(
            life.graph, life.caller, memory_id, changes={"tags": tags}, now=FIRST_NIGHT
        )

    assert await only(project="garden") == [far["project"]]
    assert await only(tags=("iron",)) == [far["tags"]]
    assert await only(tags=("shed", "iron")) == [far["tags"]]
    assert await only(categories=("pest",)) == [far["categories"]]
    assert await only(tags=("shed", "wood")) == []
    assert await only(project="garden", tags=("shed",)) == []
    await tag(far["project"], ["lime"])
    assert await only(tags=("lime",)) == [far["project"]]
    await tag(far["project"], [])
    assert await only(tags=("lime",)) == []


@pytest.mark.spec("CTX-04")
async def test_pages_after_what_was_set_aside_have_no_gap(life: Life) -> None:
    secret, *_ = await life.say(
        "The hidden vault opens with number forty two.",
        *(f"Dinner number {number} was bread." for number in range(7)),
    )
    await life.night()
    await flag_message(life.graph, Templates(), life.caller, secret, RULES, now=LATER)
    asked = "hidden vault opens with number"
    whole = await recall(life, asked, limit=50)
    assert whole.fallback

    for limits in ([1] * 9, [2, 3, 1, 4], [4, 1, 1, 1, 1, 1]):
        hits: list[str] = []
        cursor = None
        for limit in limits:
            page = await recall(life, asked, limit=limit, cursor=cursor)
            hits += [hit.id for hit in page.hits]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert hits == [hit.id for hit in whole.hits][: len(hits)]
        assert len(hits) >= 8


async def test_a_persona_knows_the_last_five_hundred_people_by_name(life: Life) -> None:
    await life.ask(
        "MATCH (p:Persona {tenant_id: $t, id: 'ada'}) SET p.people = $people",
        people=[f"Person {number}" for number in range(499)],
    )

    await life.say("I planted a pear tree.", speaker="Kim")
    await life.say("I planted a plum tree.", speaker="Lee", at=BORN + timedelta(hours=1))

    ((people,),) = [
        row.values()
        for row in await life.ask(
            "MATCH (p:Persona {tenant_id: $t, id: 'ada'}) RETURN p.people AS people"
        )
    ]
    assert len(people) == 500
    assert people[-2:] == ["Kim", "Lee"]
    assert "Person 0" not in people


async def test_a_question_without_known_words_is_answered_by_its_spelling(
    life: Life, settings: Settings
) -> None:
    embedder = open_embedder(settings)
    thai = Life(life.graph, life.tenant_id, embedder)
    try:
        tea = await keep(thai, "ฉันชอบดื่มชาเขียวทุกเช้า")
        rain = await keep(thai, "พรุ่งนี้ฝนจะตกหนักมากในเมือง")
        asked = await recall(thai, "ชาเขียว")
        unknown = await recall(thai, "ดวงจันทร์")
    finally:
        embedder.close()

    assert asked.hits[0].id == tea
    assert asked.hits[0].confidence > 0.9
    assert {hit.id: hit.confidence for hit in asked.hits}[rain] < 0.2
    assert max(hit.confidence for hit in unknown.hits) < 0.3


@pytest.mark.spec("CTX-04")
async def test_what_is_flagged_is_out_and_comes_back_only_when_nothing_else_would(
    life: Life,
) -> None:
    secret, _ = await life.say(
        "The hidden vault opens with number forty two.", "Dinner was bread and cheese today."
    )
    await life.night()
    await flag_message(life.graph, Templates(), life.caller, secret, RULES, now=LATER)

    sure = await recall(life, "bread and cheese for dinner today")
    unsure = await recall(life, "hidden vault opens with number")
    unknown = await recall(life, "weather on the moon")

    assert not sure.fallback
    assert [hit.text for hit in sure.hits if "vault" in hit.text] == []
    assert unsure.fallback
    first = unsure.hits[0]
    assert "vault" in first.text
    assert first.deprioritized
    assert first.hint
    assert first.confidence < 0.4
    assert all(not hit.deprioritized for hit in unsure.hits[1:])
    assert not unknown.fallback
    assert not any(hit.deprioritized for hit in unknown.hits)

    undone = ReversalSource.MEMORY_MANAGER
    await undo_message(life.graph, life.caller, secret, undone, RULES, now=LATER)
    back = (await recall(life, "hidden vault opens with number")).hits[0]
    assert "vault" in back.text
    assert not back.deprioritized
    assert back.confidence > first.confidence / 0.4 - 1e-3


async def test_nobody_is_asked_who_is_not_there(life: Life) -> None:
    with pytest.raises(PersonaNotFound):
        await recall(life, "tea", persona_id="nobody")


async def test_a_persona_that_knows_nothing_answers_with_nothing(life: Life) -> None:
    recalled = await recall(life, "tea")

    assert (recalled.hits, recalled.next_cursor, recalled.fallback) == ([], None, False)
    assert await recalled_ids(life, '"+-!(){}[]^~*?:\\/ AND OR NOT') == []


async def test_a_copy_recalls_as_the_persona_did_and_knows_whom_it_knew(life: Life) -> None:
    await life.say("The red house by the river burned down.", "I planted a pear tree.", at=BORN)
    await life.night(BORN + timedelta(days=2))
    asked = "What did Sam plant?"
    before = await recall(life, asked, explain=True)

    await duplicate_persona(life.graph, life.tenant_id, "ada", copy_id="eve", now=LATER)
    after = await recall(life, asked, "eve", explain=True)

    assert any((hit.explain or {})["signals"]["who"]["signal"] for hit in before.hits)
    assert [(hit.text, hit.score, hit.explain) for hit in after.hits] == [
        (hit.text, hit.score, hit.explain) for hit in before.hits
    ]


class LastWordReranker:
    """Prefers texts that end with the last word of the question."""

    depth = 3

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        return [float(text.split()[-1] == question.split()[-1]) for text in texts]

    def close(self) -> None:
        pass


async def test_a_reranker_orders_the_best_hits_and_leaves_the_others(life: Life) -> None:
    texts = ("tea and milk", "tea tea in the garden", "tea at home", "rain in the garden")
    await life.remember(*texts)
    first = await recall(life, "tea garden")
    best, others = first.hits[:3], first.hits[3:]
    expected = [*sorted(best, key=lambda hit: not hit.text.endswith("garden")), *others]
    hot_bytes = OPEN["hot_bytes"]
    reranked = Recall(
        life.graph, life.embedder, seconds=0, hot_bytes=hot_bytes, reranker=LastWordReranker()
    )

    for _ in range(2):  # from the graph, then from memory
        answer = await reranked.recall(life.tenant_id, "ada", "tea garden", now=LATER)
        await reranked.loaded()
        assert [hit.id for hit in answer.hits] == [hit.id for hit in expected]
    await reranked.close()

    assert others


async def test_no_more_searches_of_the_graph_run_at_once_than_are_allowed(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(life, "Sam keeps bees on the roof.")
    find, running, most = GraphIndex.find, 0, 0

    async def counted(index: GraphIndex, *arguments: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        found = await find(index, *arguments)
        running -= 1
        return found

    monkeypatch.setattr(GraphIndex, "find", counted)
    asked = Recall(life.graph, life.embedder, seconds=60, graph_searches=2)

    answers = await asyncio.gather(
        *(
            asked.recall(life.tenant_id, "ada", f"Who keeps {it} bees?", now=LATER)
            for it in range(12)
        )
    )

    assert most == 2
    assert all(answer.hits for answer in answers)


def recalls_by_index() -> dict[str, float]:
    """How many recalls of this process were answered by each index."""
    return {
        index: REGISTRY.get_sample_value("pentimento_recalls_total", {"index": index}) or 0.0
        for index in ("graph", "memory")
    }


async def test_who_waits_to_search_the_graph_is_answered_from_memory_once_it_can_be(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hot_index, "SMALL_ITEMS", 0)
    await keep(life, "Sam keeps bees on the roof.")
    asked = Recall(life.graph, life.embedder, seconds=60, hot_bytes=2**26, graph_searches=1)

    before = recalls_by_index()
    await asyncio.gather(
        *(
            asked.recall(life.tenant_id, "ada", f"Who keeps {it} bees?", now=LATER)
            for it in range(40)
        )
    )
    await asked.close()

    after = recalls_by_index()
    assert after["graph"] - before["graph"] >= 1
    assert after["memory"] - before["memory"] >= 1


async def test_the_first_question_to_a_small_persona_is_answered_from_memory(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("Sam keeps bees on the roof.", "Sam sells honey.", "Sam has a dog."):
        await keep(life, text)
    bees = "Sam-keeps-bees-on-the-roof."

    async def first_question(small_items: int) -> tuple[list[str], dict[str, float]]:
        monkeypatch.setattr(hot_index, "SMALL_ITEMS", small_items)
        asked = Recall(life.graph, life.embedder, seconds=60, hot_bytes=2**26)
        before = recalls_by_index()
        answer = await asked.recall(life.tenant_id, "ada", "Who keeps bees?", now=LATER)
        after = recalls_by_index()
        await asked.close()
        return [hit.id for hit in answer.hits], {it: after[it] - before[it] for it in after}

    of_three, how_of_three = await first_question(3)
    of_more, how_of_more = await first_question(2)

    assert of_three[0] == of_more[0] == bees
    assert {*of_three} == {*of_more}
    assert how_of_three == {"graph": 0, "memory": 1}
    assert how_of_more == {"graph": 1, "memory": 0}


async def test_what_is_forgotten_is_not_in_the_first_answer_of_a_small_persona(life: Life) -> None:
    secret, _ = await life.say("The vault opens with number forty two.", "Dinner was bread.")
    await life.night()
    await flag_message(life.graph, Templates(), life.caller, secret, RULES, now=LATER)
    asked = Recall(life.graph, life.embedder, seconds=60, hot_bytes=2**26)

    first = await asked.recall(life.tenant_id, "ada", "Was there bread for dinner?", now=LATER)
    await asked.close()

    assert [hit.text for hit in first.hits] == ["Sam: Dinner was bread."]
