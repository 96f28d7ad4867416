import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from engine.access.instances import add_instance
from engine.access.models import Caller, Instance, Persona, Role, Tone
from engine.access.personas import add_persona
from engine.embedding import Embedder
from engine.errors import CandidateClosed, CandidateNotFound, IdTaken, MessageNotFound
from engine.extraction.port import RuleExtractor
from engine.memory.candidates import (
    edit_candidate,
    list_candidates,
    propose_candidate,
    read_gate,
    remove_candidate,
)
from engine.memory.drawing import DrawResult, draw_candidates, list_overdue_conversations
from engine.memory.models import Candidate, CandidateState
from engine.models import PROPOSED_TYPES, MemoryType
from engine.store.graph import Graph
from engine.talk.conversations import add_conversation, record_messages
from engine.talk.models import Conversation, Message, Speaker
from tests.conftest import LetterEncoder
from tests.lives import DIMENSIONS

NOW = datetime(2026, 5, 2, 12, tzinfo=UTC)
DAY = timedelta(hours=24)


@pytest.fixture
async def studio(graph: Graph, tenant_id: str) -> Caller:
    """A tenant with Ada, who is in a conversation called Monday."""
    caller = Caller(tenant_id, "test", Role.ADMIN)
    ada = Persona("ada", "Ada", Tone.WARM, "UTC", NOW, NOW)
    await add_persona(graph, tenant_id, ada)
    await add_instance(graph, tenant_id, Instance("studio", "Studio", NOW))
    await add_conversation(graph, caller, Conversation("monday", "studio", ["ada"], NOW, "Monday"))
    return caller


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    made = Embedder(LetterEncoder, model="letters", dimensions=DIMENSIONS, cache=10)
    yield made
    made.close()


async def say(graph: Graph, caller: Caller, *contents: str, first: int = 0) -> None:
    messages = [
        Message(
            message_id=f"m{first + place}",
            conversation_id="monday",
            persona_id="ada",
            role=Speaker.USER,
            content=content,
            timestamp=NOW + timedelta(minutes=first + place),
            user_id="sam",
            speaker="Sam",
        )
        for place, content in enumerate(contents)
    ]
    await record_messages(graph, caller, "monday", messages, now=NOW)


async def draw(graph: Graph, caller: Caller, embedder: Embedder) -> DrawResult:
    return await draw_candidates(
        graph, embedder, RuleExtractor(), caller.tenant_id, "monday", now=NOW
    )


async def candidates(
    graph: Graph, caller: Caller, state: CandidateState = CandidateState.PENDING
) -> list[Candidate]:
    found = await list_candidates(graph, caller, "ada", states=[state], limit=500)
    return found.items


@pytest.mark.spec("CAND-01", "CAND-02")
async def test_a_message_yields_what_was_said_what_is_so_and_how_it_felt(
    graph: Graph, studio: Caller, embedder: Embedder
) -> None:
    await say(graph, studio, "I live in Lisbon and I absolutely love it, I'm so happy here!!")

    await draw(graph, studio, embedder)

    drawn = {candidate.memory_type: candidate for candidate in await candidates(graph, studio)}
    assert set(drawn) == set(PROPOSED_TYPES)
    episodic, semantic = drawn[MemoryType.EPISODIC], drawn[MemoryType.SEMANTIC]
    assert episodic.content["who"] == "Sam"
    assert "Lisbon" in episodic.text
    assert semantic.content["subject"] == "Sam"
    assert drawn[MemoryType.SOMATIC].content["valence"] > 0
    for candidate in drawn.values():
        assert candidate.source_message_ids == ["m0"]
        assert candidate.persona_id == "ada"
        assert candidate.extracted_at == NOW
        assert candidate.editable_until == NOW + DAY
        assert (candidate.deprioritized, candidate.deprioritized_at) == (False, None)


@pytest.mark.spec("CAND-07")
async def test_junk_stays_out_and_its_reason_is_counted(
    graph: Graph, studio: Caller, embedder: Embedder
) -> None:
    fact = "My sister Ana restores old tiles in Porto."
    await say(graph, studio, "Hi there!", "ok", "haha", fact, fact, "Thanks, bye!")

    await draw(graph, studio, embedder)

    gate = await read_gate(graph, studio.tenant_id, "ada")
    assert {c.source_message_ids[0] for c in await candidates(graph, studio)} == {"m3"}
    assert gate.messages == 6
    assert gate.left_out["greeting"] == 1
    assert gate.left_out["repeat"] == 1
    assert sum(gate.left_out.values()) >= 5
    assert gate.candidates["episodic"] == 1


async def test_many_workers_at_once_draw_from_each_message_once(
    graph: Graph, studio: Caller, embedder: Embedder
) -> None:
    await say(graph, studio, *(f"I visited town number {n} last summer." for n in range(100)))

    done = await asyncio.gather(*(draw(graph, studio, embedder) for _ in range(4)))

    assert sum(one.messages for one in done) == 100
    found = await candidates(graph, studio)
    assert sum(one.candidates for one in done) == len(found)
    assert len({c.source_message_ids[0] for c in found}) == 100
    assert await draw(graph, studio, embedder) == DrawResult(0, 0)


async def test_what_the_broker_lost_is_found_again(
    graph: Graph, studio: Caller, embedder: Embedder
) -> None:
    await say(graph, studio, "I moved to Lisbon.")
    mine = (studio.tenant_id, "monday")

    assert mine not in await list_overdue_conversations(graph, now=NOW, limit=1000)
    later = NOW + timedelta(minutes=1)
    assert mine in await list_overdue_conversations(graph, now=later, limit=1000)
    await draw(graph, studio, embedder)
    assert mine not in await list_overdue_conversations(graph, now=later, limit=1000)


async def test_a_candidate_can_be_edited_and_removed_inside_its_window_only(
    graph: Graph, studio: Caller, embedder: Embedder
) -> None:
    await say(graph, studio, "I moved to Lisbon.", "I work as a nurse.")
    await draw(graph, studio, embedder)
    one, other, *_ = await candidates(graph, studio)
    in_time, too_late = NOW + DAY - timedelta(seconds=1), NOW + DAY

    async def edit(candidate_id: str, now: datetime) -> Candidate:
        return await edit_candidate(
            graph,
            embedder,
            studio,
            candidate_id,
            text="Sam moved to Porto.",
            content=None,
            now=now,
        )

    edited = await edit(one.candidate_id, in_time)
    with pytest.raises(CandidateClosed, match="minimized"):
        await edit(other.candidate_id, too_late)
    with pytest.raises(CandidateClosed):
        await remove_candidate(graph, studio, other.candidate_id, now=too_late)
    with pytest.raises(CandidateNotFound):
        await edit("absent", in_time)

    assert edited.text == "Sam moved to Porto."
    assert edited.content == one.content
    now_there = {c.candidate_id: c for c in await candidates(graph, studio)}
    assert now_there[one.candidate_id] == edited
    assert now_there[other.candidate_id] == other

    await remove_candidate(graph, studio, one.candidate_id, now=in_time)
    assert one.candidate_id not in {c.candidate_id for c in await candidates(graph, studio)}
    removed = await candidates(graph, studio, CandidateState.REMOVED)
    assert [c.candidate_id for c in removed] == [one.candidate_id]
    with pytest.raises(CandidateClosed):
        await edit(one.candidate_id, in_time)


@pytest.mark.spec("CAND-02")
async def test_a_runtime_may_propose_its_own(
    graph: Graph, studio: Caller, embedder: Embedder
) -> None:
    await say(graph, studio, "I moved to Lisbon.")

    async def propose(text: str, sources: list[str]) -> Candidate:
        return await propose_candidate(
            graph,
            embedder,
            studio,
            "ada",
            memory_type=MemoryType.SEMANTIC,
            text=text,
            content={"subject": "Sam"},
            source_message_ids=sources,
            chosen_id="mine",
            now=NOW,
        )

    first = await propose("Sam lives in Lisbon.", ["m0"])
    again = await propose("Sam lives in Lisbon.", ["m0"])
    with pytest.raises(IdTaken):
        await propose("Sam lives in Porto.", ["m0"])
    with pytest.raises(MessageNotFound):
        await propose("Sam lives in Lisbon.", ["m0", "absent"])

    assert first == again
    assert await candidates(graph, studio) == [first]
