"""Flags, nights that are taken back, splits: what one leaves for the other."""

from datetime import timedelta
from typing import Any

import pytest

from engine.errors import IdTaken
from engine.forgetting.acknowledgments import Templates
from engine.forgetting.flags import flag_message, undo_message
from engine.forgetting.models import ReversalSource
from engine.memory.history import message_history
from engine.memory.models import CandidateState
from engine.night.undo import undo_run
from engine.talk.checkpoints import list_checkpoints, make_checkpoints
from engine.talk.splits import split_conversation
from tests.lives import BORN, FIRST_NIGHT, RULES, Life

DAY = timedelta(days=1)


async def forget(life: Life, message_id: str) -> None:
    await flag_message(life.graph, Templates(), life.caller, message_id, RULES, now=BORN + 9 * DAY)


async def take_back(life: Life, message_id: str) -> None:
    source = ReversalSource.MEMORY_MANAGER
    await undo_message(life.graph, life.caller, message_id, source, RULES, now=BORN + 9 * DAY)


async def split(life: Life, first: str, into: str = "trip") -> dict[str, str]:
    made = await split_conversation(
        life.graph,
        life.caller,
        "monday",
        first_id=first,
        last_id=None,
        chosen_id=into,
        title=None,
        now=BORN + 9 * DAY,
    )
    return made.message_ids


async def weights(life: Life, memory_id: str) -> tuple[float, bool, bool, set[float]]:
    """A memory's weight, whether it is flagged and minimized, and the weights of its links."""
    (row,) = await life.ask(
        """
        MATCH (m:Memory {tenant_id: $t, id: $id})
        RETURN m.weight_modifier AS weight, m.flagged AS flagged, m.minimized AS minimized,
          [(m)-[l]->(:Memory) | l.weight_modifier] AS links""",
        id=memory_id,
    )
    return row["weight"], row["flagged"], row["minimized"], set(row["links"])


async def three_classes(life: Life) -> tuple[list[str], str]:
    """Three episodes on three days, and the theme that a night made of them."""
    said = []
    for day, text in enumerate(
        (
            "My pottery class with the red clay kiln",
            "In pottery class the clay kiln was hot",
            "Another pottery class beside the clay kiln",
        )
    ):
        said += await life.say(text, at=BORN + day * DAY)
    await life.night(FIRST_NIGHT + 3 * DAY)
    (row,) = await life.ask(
        "MATCH (m:Memory {tenant_id: $t}) WHERE m.distilled_at IS NOT NULL RETURN m.id AS id"
    )
    return said, row["id"]


@pytest.mark.spec("UNDO-03")
async def test_a_merge_that_is_taken_back_takes_its_flag_along(life: Life) -> None:
    (one,) = await life.say("I went for a long run along the wide river this morning")
    await life.night()
    (memory,) = await life.memories()
    (again,) = await life.say(
        "I went for a long run along the wide river this morning again", at=BORN + 3 * DAY
    )
    night = await life.night(FIRST_NIGHT + 3 * DAY)
    assert night.stages[0].did["merged"] == 1
    await forget(life, again)
    assert await weights(life, memory.memory_id) == (0.2, True, True, set())

    await undo_run(life.graph, life.tenant_id, night.id, now=BORN + 9 * DAY, undone_by="test")

    assert await weights(life, memory.memory_id) == (1.0, False, False, set())
    (candidate,) = await life.candidates(CandidateState.SUPPRESSED)
    assert candidate.source_message_ids == [again]
    assert (await life.memory(memory.memory_id)).source_message_ids == [one]


@pytest.mark.spec("UNDO-03")
async def test_an_episode_does_not_join_a_theme_that_is_flagged(life: Life) -> None:
    """What is said again after it was forgotten is remembered anew, in themes too."""
    said, theme = await three_classes(life)
    await forget(life, said[0])
    await life.say("The next pottery class with a new clay kiln", at=BORN + 5 * DAY)

    night = await life.night(FIRST_NIGHT + 5 * DAY)

    assert sum(stage.did.get("joined", 0) for stage in night.stages) == 0
    assert await weights(life, theme) == (0.2, True, True, {0.2})
    await take_back(life, said[0])
    assert await weights(life, theme) == (1.0, False, False, {1.0})


@pytest.mark.spec("UNDO-03")
async def test_an_episode_that_has_left_its_theme_takes_its_flag_along(life: Life) -> None:
    _, theme = await three_classes(life)
    (late,) = await life.say("The next pottery class with a new clay kiln", at=BORN + 5 * DAY)
    night = await life.night(FIRST_NIGHT + 5 * DAY)
    await forget(life, late)
    assert await weights(life, theme) == (0.2, True, True, {0.2})

    await undo_run(life.graph, life.tenant_id, night.id, now=BORN + 9 * DAY, undone_by="test")

    assert await weights(life, theme) == (1.0, False, False, {1.0})


async def test_a_memory_that_is_a_candidate_again_says_since_when_it_is_flagged(
    life: Life,
) -> None:
    (said,) = await life.say("The red house by the river burned down.")
    night = await life.night()
    await forget(life, said)

    await undo_run(life.graph, life.tenant_id, night.id, now=BORN + 9 * DAY, undone_by="test")

    (candidate,) = await life.candidates(CandidateState.SUPPRESSED)
    assert (candidate.deprioritized, candidate.deprioritized_at) == (True, BORN + 9 * DAY)


@pytest.mark.spec("NAV-04")
@pytest.mark.parametrize("source", ["message", "copy"])
async def test_what_a_runtime_draws_after_a_split_hears_of_a_flag_on_either(
    life: Life, source: str
) -> None:
    (said,) = await life.say("ok")
    copy = (await split(life, said))[said]
    await forget(life, copy if source == "message" else said)

    sources = [said if source == "message" else copy]
    proposed = await life.propose("Sam is polite.", at=BORN + 9 * DAY, sources=sources)

    (candidate,) = await life.candidates(CandidateState.SUPPRESSED)
    assert candidate.candidate_id == proposed
    assert set(candidate.source_message_ids) == {said, copy}


@pytest.mark.spec("NAV-01", "NAV-03")
async def test_a_conversation_that_was_split_off_has_checkpoints_of_its_own(life: Life) -> None:
    said = await life.say("The red house burned down.", "A green tree fell on the bridge.")
    copies = await split(life, said[0])
    now: dict[str, Any] = {"now": BORN + 9 * DAY}

    for where in ("monday", "trip"):
        assert await make_checkpoints(life.graph, life.tenant_id, where, **now) == 2
    for message_id in copies.values():
        await forget(life, message_id)

    (here,) = (await list_checkpoints(life.graph, life.caller, "monday", limit=9)).items
    (there,) = (await list_checkpoints(life.graph, life.caller, "trip", limit=9)).items
    assert (here.message_ids, here.muted) == (said, False)
    assert (there.message_ids, there.muted) == ([copies[message_id] for message_id in said], True)


@pytest.mark.spec("SEC-04")
async def test_the_story_of_a_copy_begins_with_that_of_its_message(life: Life) -> None:
    (said,) = await life.say("The red house burned down.")
    await forget(life, said)
    copy = (await split(life, said))[said]
    await take_back(life, said)
    await take_back(life, copy)

    async def story(message_id: str) -> list[str]:
        records = await message_history(life.graph, life.caller, message_id)
        return [record.action for record in records]

    assert await story(said) == ["flagged", "split", "unflagged"]
    assert await story(copy) == ["flagged", "split", "unflagged"]


async def test_the_id_of_a_memory_is_taken(life: Life) -> None:
    """Or the next night would have to make a second memory of it, and could not."""
    proposed = await life.propose("Sam is polite.", chosen_id="polite")
    await life.night()

    with pytest.raises(IdTaken):
        await life.propose("Sam is polite.", at=BORN + 2 * DAY, chosen_id=proposed)

    assert await life.candidates() == []
    assert (await life.night(FIRST_NIGHT + 3 * DAY)).state == "done"
