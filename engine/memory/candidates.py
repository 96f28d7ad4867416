"""Candidates: drawn from messages as they arrive, changed inside the editing window."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from engine.access import Caller, audit_event, get_persona
from engine.embedding import Embedder, TextInContext, embed_in_context, search_scope
from engine.errors import (
    CandidateClosed,
    CandidateNotFound,
    IdTaken,
    MessageNotFound,
    NothingToRestore,
    PersonaNotFound,
)
from engine.extraction import ExtractionInput, Extractor, extract
from engine.ids import id_from, new_id
from engine.memory.badges import shown_state, viewer_of
from engine.memory.content import decode_content, encode_content, index_properties
from engine.memory.facts import Fact, as_fact, fact_key
from engine.memory.models import Candidate, CandidateState, Gate
from engine.models import MemoryType, Row
from engine.policy import read_policy
from engine.store import Graph, Page, decode_id, make_page
from engine.talk import OVERDUE

PEOPLE_KEPT = 500  # names a persona knows people by; each is looked for in every question
MESSAGES_AT_ONCE = 64  # drawn from, embedded and kept as one transaction
SAME = ("memory_type", "text", "content")  # of two candidates with one id, when they are the same
GATE_CONVERSATIONS, GATE_MESSAGES = 1_000, 20_000  # the newest, that the gate is judged by


@dataclass(frozen=True, slots=True)
class Drawn:
    """What one drawing did."""

    messages: int
    candidates: int


async def draw_candidates(
    graph: Graph,
    embedder: Embedder,
    extractor: Extractor,
    tenant_id: str,
    conversation_id: str,
    *,
    now: datetime,
) -> Drawn:
    """Draw candidates from every message of a conversation that waits for it.

    Two workers at once, or one that dies and is followed by another, draw from each message once.
    """
    messages = candidates = 0
    while True:
        rows = await graph.read(
            "memory/candidates/list_waiting_messages",
            tenant_id=tenant_id,
            conversation_id=conversation_id,
            limit=MESSAGES_AT_ONCE,
        )
        if not rows:
            return Drawn(messages, candidates)
        waiting = [row["message"] for row in rows]
        repeats = await exact_repeats(graph, tenant_id, waiting)
        extractions = await asyncio.gather(
            *(extractor.draw(as_said(it), is_repeat=it["id"] in repeats) for it in waiting)
        )
        sayings = [
            TextInContext(
                item.meaning,
                it["before"] if item.memory_type is MemoryType.EPISODIC else None,
                kept_as=item.text,
            )
            for it, extraction in zip(waiting, extractions, strict=True)
            for item in extraction.items
        ]
        embedded = iter(await embed_in_context(embedder, sayings))
        await meet_people(graph, tenant_id, waiting)
        (kept,) = await graph.write(
            "memory/candidates/keep_drawn",
            tenant_id=tenant_id,
            drawn=[
                {
                    "message_id": message["id"],
                    "left_out": list(extraction.left_out),
                    "candidates": [
                        {
                            "id": id_from(message["id"], str(place)),
                            "persona_id": message["persona_id"],
                            "memory_type": item.memory_type.value,
                            "text": item.text,
                            "content": encode_content(item.content),
                            "index_properties": index_properties(item.content),
                            "search_scope": search_scope(tenant_id, message["persona_id"]),
                            **next(embedded).properties,
                        }
                        for place, item in enumerate(extraction.items)
                    ],
                }
                for message, extraction in zip(waiting, extractions, strict=True)
            ],
            now=now,
        )
        messages += kept["messages"]
        candidates += kept["candidates"]


async def exact_repeats(graph: Graph, tenant_id: str, waiting: Sequence[Row]) -> set[str]:
    """Ids of the messages that say again, word for word, what the same person has said before.

    One that states a fact is news, and none of them, when something that denies it was said since.
    """
    again = {message["id"]: message for message in waiting if message["repeats_at"]}
    facts = {id_: stated_in(message) for id_, message in again.items()}
    rows = [
        {
            "message_id": id_,
            "persona_id": again[id_]["persona_id"],
            "fact": name,
            "fact_value": fact.said,
            "since": again[id_]["repeats_at"],
            "until": again[id_]["said_at"],
        }
        for id_, stated in facts.items()
        for name, fact in stated
    ]
    if not rows:
        return set(again)
    between: dict[str, list[tuple[str, Fact]]] = {}
    for found in await graph.read(
        "memory/candidates/list_said_between", tenant_id=tenant_id, rows=rows
    ):
        between.setdefault(found["message_id"], []).extend(
            as_named_facts(decode_content(found["content"]), found["said_at"])
        )
    # What waits in the same batch is not in the graph as a candidate yet.
    here = [
        (message, facts[message["id"]] if message["id"] in facts else stated_in(message))
        for message in waiting
    ]
    for row in rows:
        between.setdefault(row["message_id"], []).extend(
            named
            for message, stated in here
            if message["persona_id"] == row["persona_id"]
            and row["since"] <= message["said_at"] <= row["until"]
            for named in stated
        )
    news = {
        id_
        for id_, stated in facts.items()
        for name, fact in stated
        if any(other == name and later.denies(fact) for other, later in between.get(id_, []))
    }
    return again.keys() - news


def stated_in(message: Row) -> list[tuple[str, Fact]]:
    """The facts that the rules find in a message, each with what it is filed under."""
    items = extract(as_said(message)).items
    return [named for item in items for named in as_named_facts(item.content, message["said_at"])]


def as_named_facts(content: dict[str, Any], said_at: datetime) -> list[tuple[str, Fact]]:
    name, fact = fact_key(content), as_fact("", content, said_at)
    return [(name, fact)] if name and fact else []


async def meet_people(graph: Graph, tenant_id: str, messages: Sequence[Row]) -> None:
    """Let each persona know by name who speaks to it for the first time."""
    met: dict[str, list[str]] = {}
    for message in messages:
        if not message["is_known"]:
            met.setdefault(message["persona_id"], []).append(message["speaker"])
    if met:
        rows = [{"persona_id": it, "names": list(dict.fromkeys(met[it]))} for it in sorted(met)]
        await graph.write(
            "access/personas/meet_people", tenant_id=tenant_id, met=rows, most=PEOPLE_KEPT
        )


def as_said(message: Row) -> ExtractionInput:
    return ExtractionInput(
        message_id=message["id"],
        speaker=message["speaker"],
        role=message["role"],
        content=message["content"],
        said_at=message["said_at"],
        conversation=message["where"],
    )


async def list_overdue_conversations(
    graph: Graph, *, now: datetime, limit: int
) -> list[tuple[str, str]]:
    """Tenant and id of each conversation whose messages nobody drew from in time."""
    rows = await graph.read(
        "memory/candidates/list_waiting_conversations", before=now - OVERDUE, limit=limit
    )
    return [(row["tenant_id"], row["conversation_id"]) for row in rows]


async def propose_candidate(
    graph: Graph,
    embedder: Embedder,
    caller: Caller,
    persona_id: str,
    *,
    memory_type: MemoryType,
    text: str,
    content: dict[str, Any],
    source_message_ids: Sequence[str],
    chosen_id: str | None,
    now: datetime,
) -> Candidate:
    """Keep a candidate that a runtime has drawn itself."""
    window = await editing_window(graph, caller.tenant_id, persona_id)
    (embedded,) = await embed_in_context(embedder, [TextInContext(text)])
    proposed: Row = {
        "id": chosen_id or new_id(),
        "memory_type": memory_type.value,
        "text": text,
        "content": encode_content(content),
        "extracted_at": now,
    }
    sizes = {"text": len(text), "content": len(proposed["content"])}
    same = {"persona_id": persona_id, **{name: proposed[name] for name in SAME}}

    def accept(found: list[Row]) -> Row:
        if not found:
            raise PersonaNotFound(persona_id)
        (row,) = found
        if row["missing"]:
            raise MessageNotFound(row["missing"][0])
        stored: Row | None = row["candidate"]
        if (
            stored is None
            or any(stored[name] != value for name, value in same.items())
            or not {*source_message_ids} <= {*stored["sources"]}
        ):
            raise IdTaken("candidate", str(proposed["id"]))
        return stored

    stored = await graph.write_if(
        accept,
        "memory/candidates/add_candidate",
        tenant_id=caller.tenant_id,
        persona_id=persona_id,
        candidate={
            **proposed,
            **embedded.properties_without_embedding,
            "search_scope": search_scope(caller.tenant_id, persona_id),
        },
        index_properties=index_properties(content),
        embedding=embedded.embedding,
        sources=list(source_message_ids),
        **caller.visibility,
        event={**audit_event(caller, "proposed", now), "after": encode_content(sizes)},
    )
    return as_candidate({**stored, "acts": 0, "shown_acts": 0}, window)


async def list_candidates(
    graph: Graph,
    caller: Caller,
    persona_id: str,
    *,
    states: Sequence[CandidateState],
    cursor: str | None = None,
    limit: int,
    badges_for_all: bool = False,
) -> Page[Candidate]:
    """A persona's candidates of some states, for those who may know of them."""
    window = await editing_window(graph, caller.tenant_id, persona_id)
    rows = await graph.read(
        "memory/candidates/list_candidates",
        tenant_id=caller.tenant_id,
        persona_id=persona_id,
        states=[state.value for state in states],
        **caller.visibility,
        viewer=viewer_of(caller, badges_for_all=badges_for_all),
        after=decode_id(cursor),
        limit=limit + 1,
    )
    found = [as_candidate(row["candidate"], window) for row in rows]
    return make_page(found, limit, lambda candidate: candidate.candidate_id)


async def edit_candidate(
    graph: Graph,
    embedder: Embedder,
    caller: Caller,
    candidate_id: str,
    *,
    text: str | None,
    content: dict[str, Any] | None,
    now: datetime,
    badges_for_all: bool = False,
) -> Candidate:
    """Change what a candidate says, while its editing window is open."""
    changes: Row = {"edited_at": now}
    if text is not None:
        changes["text"] = text
    if content is not None:
        changes |= {"content": encode_content(content), **index_properties(content)}
    embedding = None
    if text is not None:
        (embedded,) = await embed_in_context(embedder, [TextInContext(text)])
        embedding = embedded.embedding
        changes |= embedded.properties_without_embedding
    return await change(
        graph,
        caller,
        candidate_id,
        changes,
        audit_event(caller, "edited", now),
        embedding=embedding,
        badges_for_all=badges_for_all,
    )


async def remove_candidate(
    graph: Graph, caller: Caller, candidate_id: str, *, now: datetime
) -> Candidate:
    """Take a candidate out for good, while its editing window is open."""
    changes = {"state": CandidateState.REMOVED.value, "removed_at": now}
    event = audit_event(caller, "removed", now)
    return await change(graph, caller, candidate_id, changes, event, embedding=None)


async def restore_candidate(
    graph: Graph,
    caller: Caller,
    candidate_id: str,
    *,
    now: datetime,
    badges_for_all: bool = False,
) -> Candidate:
    """Put a candidate that the night has passed over into the queue of the next one."""
    found = await graph.write(
        "memory/candidates/restore_candidate",
        tenant_id=caller.tenant_id,
        candidate_id=candidate_id,
        **caller.visibility,
        viewer=viewer_of(caller, badges_for_all=badges_for_all),
        event=audit_event(caller, "requeued", now),
    )
    if not found:
        raise CandidateNotFound(candidate_id)
    if not found[0]["restored"]:
        raise NothingToRestore(candidate_id)
    stored = found[0]["candidate"]
    return as_candidate(stored, await editing_window(graph, caller.tenant_id, stored["persona_id"]))


async def editing_window(graph: Graph, tenant_id: str, persona_id: str) -> timedelta:
    """How long each candidate of a persona can be changed."""
    policy = await read_policy(graph, tenant_id, persona_id)
    return timedelta(hours=policy.figures.editing_window_hours)


async def change(
    graph: Graph,
    caller: Caller,
    candidate_id: str,
    changes: Row,
    event: Row,
    *,
    embedding: Any,
    badges_for_all: bool = False,
) -> Candidate:
    """Change a candidate, if its editing window is open."""
    found = await graph.read(
        "memory/candidates/find_persona", tenant_id=caller.tenant_id, candidate_id=candidate_id
    )
    if not found:
        raise CandidateNotFound(candidate_id)
    window = await editing_window(graph, caller.tenant_id, found[0]["persona_id"])
    found = await graph.write(
        "memory/candidates/change_candidate",
        tenant_id=caller.tenant_id,
        candidate_id=candidate_id,
        **caller.visibility,
        viewer=viewer_of(caller, badges_for_all=badges_for_all),
        changes=changes,
        embedding=embedding,
        drawn_after=event["at"] - window,
        event=event,
    )
    if not found:
        raise CandidateNotFound(candidate_id)
    if not found[0]["changed"]:
        raise CandidateClosed(candidate_id, await memory_of(graph, caller, candidate_id))
    return as_candidate(found[0]["candidate"], window)


async def memory_of(graph: Graph, caller: Caller, candidate_id: str) -> str | None:
    """The memory a candidate is part of by now, for those who may know of it."""
    which = {"tenant_id": caller.tenant_id}
    rows = await graph.read("memory/candidates/find_memory", candidate_id=candidate_id, **which)
    if not rows:
        return None
    memory_id: str = rows[0]["memory_id"]
    seen = {**caller.visibility, "viewer": None}
    known = await graph.read("memory/memories/get_memory", memory_id=memory_id, **which, **seen)
    return memory_id if known else None


async def read_gate(graph: Graph, tenant_id: str, persona_id: str) -> Gate:
    """What the gate let through and left out of the newest 20,000 messages."""
    await get_persona(graph, tenant_id, persona_id)
    (row,) = await graph.read(
        "memory/candidates/count_gate",
        tenant_id=tenant_id,
        persona_id=persona_id,
        conversations=GATE_CONVERSATIONS,
        most=GATE_MESSAGES,
    )
    return Gate(
        messages=row["messages"],
        candidates={it["memory_type"]: it["candidates"] for it in row["candidates"]},
        left_out={it["reason"]: it["messages"] for it in row["left_out"]},
    )


def as_candidate(stored: Row, window: timedelta) -> Candidate:
    """A candidate as it is shown: flags that its caller may not know of are not there."""
    hidden = stored["acts"] > 0 and stored["shown_acts"] == 0
    return Candidate(
        candidate_id=stored["id"],
        source_message_ids=stored["sources"],
        persona_id=stored["persona_id"],
        memory_type=MemoryType(stored["memory_type"]),
        text=stored["text"],
        content=decode_content(stored["content"]),
        extracted_at=stored["extracted_at"],
        editable_until=stored["extracted_at"] + window,
        state=CandidateState(shown_state(stored)),
        deprioritized=stored["flagged"] and not hidden,
        deprioritized_at=None if hidden else stored["deprioritized_at"],
    )
