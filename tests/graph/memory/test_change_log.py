"""The change log: what every act adds to it, and what a cache reads of it."""

import asyncio
import json
import time
from datetime import timedelta
from typing import Any

import pytest

import cypher
from engine.access.models import Persona, Tone
from engine.access.personas import add_persona
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message, flag_range, undo_message, undo_range
from engine.forgetting.models import ReversalSource
from engine.memory.candidates import edit_candidate, remove_candidate, restore_candidate
from engine.memory.change_log import MAX_LOGGED_IDS, delete_old_changes
from engine.memory.duplicates import duplicate_persona
from engine.memory.links import add_link
from engine.memory.memories import (
    NewMemory,
    archive_memory,
    change_memory,
    minimize_memory,
    remember,
    unarchive_memory,
)
from engine.memory.models import LinkType
from engine.memory.uses import Use, count_uses
from engine.models import MemoryType
from engine.night.nights import preview_night
from engine.night.undo import undo_run
from engine.recall.changes import Changes, read_changes
from engine.recall.hot_persona import HotPersona
from engine.service.index_repair import refile_items
from engine.talk.splits import split_conversation
from tests.changes import WatchedGraph
from tests.conftest import Statements
from tests.graph.night.test_rollback import LAST_NIGHT, a_past
from tests.lives import BORN, DIMENSIONS, FIRST_NIGHT, RULES, Life

DAY = timedelta(days=1)
MANAGER = ReversalSource.MEMORY_MANAGER


@pytest.fixture
async def watched(life: Life) -> WatchedGraph:
    """The graph of Ada's life; each transaction in it is compared with the change log."""
    graph = WatchedGraph(life.graph, life.tenant_id)
    life.graph = graph
    return graph


def seen(changes: Changes) -> tuple[int, list[str], bool, bool]:
    return changes.revision, changes.item_ids, changes.content, changes.reload


async def changes_of(life: Life, since: int = 0, **options: Any) -> Changes:
    return await read_changes(life.graph, life.tenant_id, "ada", since=since, **options)


async def test_flags_and_their_undo_log_what_they_change(watched: WatchedGraph, life: Life) -> None:
    said = await life.say("I live in Lisbon.", "The red house by the river burned down.")
    said += await life.say("I live in Porto.", "ok", "I am so happy about the garden!", at=BORN)
    await life.night()
    said += await life.say("The green tree fell on the bridge.", at=FIRST_NIGHT)
    now = FIRST_NIGHT + timedelta(hours=1)

    for _ in range(2):
        for message_id in said:
            await flag_message(watched, Templates(), life.caller, message_id, RULES, now=now)
        await undo_message(watched, life.caller, said[2], MANAGER, RULES, now=now)
    done = await flag_range(
        watched,
        Templates(),
        life.caller,
        "monday",
        first_id=said[1],
        last_id=said[2],
        confirmed=True,
        rules=RULES,
        now=now,
    )
    assert done.range_id
    await undo_range(watched, life.caller, done.range_id, MANAGER, RULES, message_ids=None, now=now)

    assert {"forgetting/flags/flag_messages", "forgetting/flags/undo_flags"} <= watched.logged_by


async def test_a_fact_that_holds_again_is_logged_without_a_link_to_it(
    watched: WatchedGraph, life: Life
) -> None:
    said = await life.say("I live in Lisbon.", "I live in Porto.")
    await life.night()
    await life.ask("MATCH (:Memory {tenant_id: $t})-[link]->(:Memory) DELETE link")
    lisbon = next(memory for memory in await life.memories() if "in Lisbon" in memory.text)
    before = (await changes_of(life)).revision

    await flag_message(watched, Templates(), life.caller, said[1], RULES, now=FIRST_NIGHT)
    flagged = await changes_of(life, since=before)
    await undo_message(watched, life.caller, said[1], MANAGER, RULES, now=FIRST_NIGHT)

    assert lisbon.memory_id in flagged.item_ids
    assert lisbon.memory_id in (await changes_of(life, since=flagged.revision)).item_ids


async def test_changes_to_candidates_are_logged(watched: WatchedGraph, life: Life) -> None:
    (said,) = await life.say("The red house by the river burned down.")
    first, second = [await life.propose(text, sources=[said]) for text in ("One", "Two")]
    await life.propose("One", sources=[said], chosen_id=first)
    now = BORN + timedelta(hours=1)

    for text in ("Edited", "Edited"):
        await edit_candidate(
            watched, life.embedder, life.caller, first, text=text, content=None, now=now
        )
    await remove_candidate(watched, life.caller, second, now=now)
    await flag_message(watched, Templates(), life.caller, said, RULES, now=now)
    await life.night()
    await undo_message(watched, life.caller, said, MANAGER, RULES, now=FIRST_NIGHT)
    await restore_candidate(watched, life.caller, first, now=FIRST_NIGHT)

    assert {
        f"memory/candidates/{name}"
        for name in (
            "add_candidate",
            "add_drawn_candidates",
            "change_candidate",
            "restore_candidate",
        )
    } <= watched.logged_by


async def test_changes_to_memories_are_logged(watched: WatchedGraph, life: Life) -> None:
    one, other, third = await life.remember("red house", "green tree", "red tree")
    await life.say("I live in Lisbon.", "I live in Porto.", at=FIRST_NIGHT)
    await life.night(FIRST_NIGHT + 2 * DAY)
    porto = next(memory for memory in await life.memories() if "Porto" in memory.text)
    caller, now = life.caller, FIRST_NIGHT + 3 * DAY

    for _ in range(2):
        await add_link(watched, caller, one, other, LinkType.ENABLES, strength=None, now=now)
        await minimize_memory(watched, caller, one, modifier=0.5, now=now)
        await change_memory(
            watched, caller, one, changes={"pinned": True, "tags": ["blue"]}, now=now
        )
        await archive_memory(watched, caller, porto.memory_id, now=now)
        await life.use(one, other, at=now, use_id="one use")
    for _ in range(2):
        await unarchive_memory(watched, caller, porto.memory_id, now=now)
        await minimize_memory(watched, caller, one, modifier=1, now=now)
    new = NewMemory(MemoryType.EPISODIC, "kept at once", {"said": "kept"}, chosen_id="kept")
    for _ in range(2):
        await remember(watched, life.embedder, caller, "ada", new, now=now)
    uses = [Use(id_, life.tenant_id, "ada", (third, id_), now) for id_ in (one, "nothing")]
    await count_uses(watched, [*uses, *uses], whole=False)

    assert {
        f"memory/memories/{name}"
        for name in (
            "add_link",
            "add_memory",
            "archive_memory",
            "change_memory",
            "count_uses",
            "minimize_memory",
            "unarchive_memory",
        )
    } <= watched.logged_by


@pytest.mark.timeout(600)
async def test_a_night_its_preview_and_its_undo_log_what_they_change(
    watched: WatchedGraph, life: Life
) -> None:
    await a_past(life)
    await preview_night(watched, life.tenant_id, "ada", now=LAST_NIGHT)

    older = sorted(memory.memory_id for memory in await life.memories())
    run = await life.night(LAST_NIGHT)
    formed = {memory.memory_id for memory in await life.memories()} - set(older)
    for memory_id in formed:  # links made since are gone with what the night has formed
        await add_link(
            watched,
            life.caller,
            older[0],
            memory_id,
            LinkType.VALIDATES,
            strength=None,
            now=LAST_NIGHT,
        )
    await undo_run(watched, life.tenant_id, run.id, now=LAST_NIGHT, undone_by="test")

    stages = ("integrate", "link", "distil", "strengthen", "prune", "decay", "archive")
    assert {f"step:{stage}" for stage in stages} | {"undo"} <= watched.logged_by


async def test_a_duplicate_has_a_log_of_its_own(watched: WatchedGraph, life: Life) -> None:
    one, other = await life.remember("red house", "green tree")
    await add_link(
        watched, life.caller, one, other, LinkType.ENABLES, strength=None, now=FIRST_NIGHT
    )

    copying = watched.write

    async def minimized_meanwhile(name: str, /, **parameters: Any) -> Any:
        if name == "memory/duplicates/finish_copy":
            await minimize_memory(watched, life.caller, one, modifier=0.5, now=FIRST_NIGHT)
        return await copying(name, **parameters)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(watched, "with_limit", lambda _: watched)
        patched.setattr(watched, "write", minimized_meanwhile)
        await duplicate_persona(watched, life.tenant_id, "ada", copy_id="eve", now=FIRST_NIGHT)

    assert {
        f"memory/duplicates/{name}" for name in ("copy_memories", "copy_links", "finish_copy")
    } <= watched.logged_by
    copied = await read_changes(watched, life.tenant_id, "eve", since=0)
    assert len(copied.item_ids) == 2
    assert copied.content


async def test_items_that_are_filed_again_are_logged(
    watched: WatchedGraph, life: Life, statements: Statements
) -> None:
    (kept,) = await life.remember("red house")
    content = json.dumps({"subject": "Sam"})
    await life.ask(
        "MATCH (m:Memory {tenant_id: $t, id: $id}) SET m.about = $long, m.content = $content",
        id=kept,
        long="s" * 2_000,
        content=content,
    )

    await refile_items(watched)

    assert "service/index_repair/update_index_properties" in watched.logged_by


async def test_a_split_changes_no_item(watched: WatchedGraph, life: Life) -> None:
    said = await life.say("I live in Lisbon.", "The red house by the river burned down.")
    before = watched.logged_by.copy()

    await split_conversation(
        watched,
        life.caller,
        "monday",
        first_id=said[0],
        last_id=said[1],
        chosen_id="apart",
        title=None,
        now=BORN,
    )

    assert watched.logged_by == before


# ── what a cache reads ───────────────────────────────────────────────────────────────────────────


async def test_a_cache_reads_what_has_changed_since_it_asked_last(life: Life) -> None:
    assert seen(await changes_of(life)) == (0, [], False, False)
    assert (await changes_of(life, since=-1)).reload
    one = await life.propose("red house")
    other = await life.propose("green tree")

    assert seen(await changes_of(life)) == (2, [one, other], True, False)
    assert seen(await changes_of(life, since=1)) == (2, [other], True, False)
    assert seen(await changes_of(life, since=2)) == (2, [], False, False)
    await remove_candidate(life.graph, life.caller, one, now=BORN)
    assert seen(await changes_of(life, since=2)) == (3, [one], False, False)


async def test_a_cache_that_knows_too_little_reads_everything_again(life: Life) -> None:
    for place in range(4):
        await life.propose(f"number {place}")

    assert seen(await changes_of(life, since=-1)) == (4, [], False, True)
    assert (await changes_of(life, since=1, limit=2)).reload
    assert not (await changes_of(life, since=1, limit=3)).reload
    # A graph that is not this one any more, or a replica that lags behind.
    assert (await changes_of(life, since=9)).revision < 9


async def test_a_change_of_very_many_items_names_none(life: Life) -> None:
    ids = [f"item-{place}" for place in range(MAX_LOGGED_IDS + 1)]
    parameters = {"tenant_id": life.tenant_id, "persona_id": "ada"}

    await life.graph.write("memory/changes/log_changes", **parameters, item_ids=ids[1:])
    assert len((await changes_of(life)).item_ids) == MAX_LOGGED_IDS
    await life.graph.write("memory/changes/log_changes", **parameters, item_ids=ids)

    assert seen(await changes_of(life, since=1)) == (2, [], False, True)


async def test_old_changes_are_deleted_and_the_newest_stays(life: Life) -> None:
    ids = [await life.propose(f"number {place}") for place in range(4)]
    parameters = {"tenant_id": life.tenant_id, "persona_id": "ada"}

    await delete_old_changes(life.graph, parameters)
    assert (await changes_of(life)).item_ids == ids
    await delete_old_changes(life.graph, parameters, kept_seconds=-1)

    assert seen(await changes_of(life, since=3)) == (4, ids[3:], True, False)
    assert (await changes_of(life, since=2)).reload
    assert not (await changes_of(life, since=4)).reload


async def test_while_nothing_changes_a_cache_reads_one_node(life: Life) -> None:
    await life.propose("red house")
    text = cypher.statement("recall/search/read_changes").replace("CYPHER 25", "CYPHER 25 PROFILE")

    async with life.graph._driver.session(database=life.graph._database) as session:
        result = await session.run(
            text, tenant_id=life.tenant_id, persona_id="ada", since=1, limit=10, ids=[]
        )
        summary = await result.consume()

    assert summary.profile
    assert hits(summary.profile) <= 6
    assert not summary.counters.contains_updates


def hits(plan: dict[str, Any]) -> int:
    return int(plan.get("dbHits", 0)) + sum(hits(child) for child in plan.get("children", []))


# ── many at once ─────────────────────────────────────────────────────────────────────────────────

WRITERS, CHANGES = 12, 15


@pytest.mark.timeout(300)
async def test_no_reader_misses_what_one_of_many_writers_has_changed(life: Life) -> None:
    """Each cache reads the items that the log names, and is then as new as its revision."""
    done = asyncio.Event()
    memories = await life.remember("red house", "green tree", "blue door", "white stairs")

    async def write(writer: int) -> None:
        for place in range(CHANGES):
            if writer % 3 == 0:
                await life.propose(f"{writer} {place}", chosen_id=f"c-{writer}-{place}")
            elif writer % 3 == 1:
                await life.use(*memories[writer % 4 :], at=FIRST_NIGHT)
            else:
                kept, share = memories[writer % 4], 0.5 if place % 2 else 1
                await minimize_memory(
                    life.graph, life.caller, kept, modifier=share, now=FIRST_NIGHT
                )

    async def cache() -> dict[str, Any]:
        """Reads as a persona in memory does: each change again after a second."""
        first = (await changes_of(life, since=-1)).revision
        persona, items = HotPersona(DIMENSIONS, first, first), await read_items(life)
        while True:
            was_done, asked_at = done.is_set(), time.monotonic()
            since = persona.read_from(asked_at)
            changes = await changes_of(life, since=since)
            assert not changes.reload
            items |= await read_items(life, changes.item_ids)
            now = time.monotonic()
            persona.has_read(since, changes.revision, asked_at=asked_at, now=now)
            if was_done and persona.unconfirmed is None:
                return items
            await asyncio.sleep(0.01)

    caches = [asyncio.create_task(cache()) for _ in range(3)]
    await asyncio.gather(*(write(writer) for writer in range(WRITERS)))
    done.set()

    expected = await read_items(life)
    for items in await asyncio.gather(*caches):
        assert items == expected
    rows = await life.ask(
        "MATCH (c:Change {tenant_id: $t}) RETURN c.revision AS revision ORDER BY revision"
    )
    assert [row["revision"] for row in rows] == list(range(1, len(rows) + 1))


async def read_items(life: Life, ids: list[str] | None = None) -> dict[str, Any]:
    rows = await life.ask(
        """
        MATCH (item:Candidate|Memory {tenant_id: $t})
        WHERE $ids IS NULL OR item.id IN $ids
        RETURN item.id AS id, [item.text, item.access_count, item.weight_modifier] AS state""",
        ids=ids,
    )
    return {row["id"]: row["state"] for row in rows}


async def test_the_first_changes_of_a_persona_may_come_at_once(life: Life) -> None:
    for round_ in range(5):
        persona_id = f"persona-{round_}"
        born = Persona(persona_id, "P", Tone.WARM, "UTC", BORN, BORN)
        await add_persona(life.graph, life.tenant_id, born)

        ids = await asyncio.gather(
            *(life.propose(f"number {place}", persona_id=persona_id) for place in range(8))
        )

        changes = await read_changes(life.graph, life.tenant_id, persona_id, since=0)
        assert changes.revision == 8
        assert sorted(changes.item_ids) == sorted(ids)
