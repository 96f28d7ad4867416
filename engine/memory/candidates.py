"""Candidates: proposed by a runtime, listed, and changed inside the editing window."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from engine.access import Caller, audit_event, get_persona
from engine.embedding import Embedder, TextInContext, embed_in_context, search_scope
from engine.errors import (
    CandidateClosed,
    CandidateNotFound,
    IdTaken,
    Invalid,
    MessageNotFound,
    NothingToRestore,
    PersonaNotFound,
)
from engine.ids import new_id
from engine.memory.badges import hides_flags, shown_state, viewer_of
from engine.memory.content import (
    decode_content,
    encode_content,
    index_properties,
    item_changes,
    item_properties,
)
from engine.memory.models import Candidate, CandidateState, Gate
from engine.models import PROPOSED_TYPES, MemoryType, Row
from engine.policy import read_policy
from engine.store import Graph, Page, decode_id, make_page

GATE_CONVERSATIONS, GATE_MESSAGES = 1_000, 20_000  # the newest, that `read_gate` counts


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
    """Keep a candidate that a runtime has drawn itself.

    The same candidate with the same id given again changes nothing.
    """
    if memory_type not in PROPOSED_TYPES:
        raise Invalid("A forgotten shape is drawn from what was archived, and not proposed.")
    window = await editing_window(graph, caller.tenant_id, persona_id)
    (embedded,) = await embed_in_context(embedder, [TextInContext(text)])
    properties: Row = {
        "id": chosen_id or new_id(),
        **item_properties(memory_type, text, content),
        "extracted_at": now,
    }
    audited = {"text": len(text), "content": len(properties["content"])}
    stored = await graph.write_if(
        lambda rows: check_proposed(rows, persona_id, properties, source_message_ids),
        "memory/candidates/add_candidate",
        tenant_id=caller.tenant_id,
        persona_id=persona_id,
        candidate={
            **properties,
            **embedded.properties_without_embedding,
            "search_scope": search_scope(caller.tenant_id, persona_id),
        },
        index_properties=index_properties(content),
        embedding=embedded.embedding,
        sources=list(source_message_ids),
        **caller.visibility,
        event={**audit_event(caller, "proposed", now), "after": encode_content(audited)},
    )
    return candidate_from_row({**stored, "acts": 0, "shown_acts": 0}, window)


def check_proposed(
    rows: list[Row], persona_id: str, properties: Row, source_message_ids: Sequence[str]
) -> Row:
    """The candidate that was kept. Refuses an id that another candidate or a memory has."""
    if not rows:
        raise PersonaNotFound(persona_id)
    (row,) = rows
    if row["missing"]:
        raise MessageNotFound(row["missing"][0])
    stored: Row | None = row["candidate"]
    expected = {name: properties[name] for name in ("memory_type", "text", "content")}
    expected["persona_id"] = persona_id
    if (
        stored is None
        or any(stored[name] != value for name, value in expected.items())
        or not {*source_message_ids} <= {*stored["sources"]}
    ):
        raise IdTaken("candidate", str(properties["id"]))
    return stored


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
    """A persona's candidates of some states that the caller may see."""
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
    candidates = [candidate_from_row(row["candidate"], window) for row in rows]
    return make_page(candidates, limit, lambda candidate: candidate.candidate_id)


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
    changes: Row = {"edited_at": now, **item_changes(text, content)}
    embedding = None
    if text is not None:
        (embedded,) = await embed_in_context(embedder, [TextInContext(text)])
        embedding = embedded.embedding
        changes |= embedded.properties_without_embedding
    return await update_candidate(
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
    return await update_candidate(graph, caller, candidate_id, changes, event, embedding=None)


async def restore_candidate(
    graph: Graph,
    caller: Caller,
    candidate_id: str,
    *,
    now: datetime,
    badges_for_all: bool = False,
) -> Candidate:
    """Let the next night take a candidate that an earlier one has passed over."""
    rows = await graph.write(
        "memory/candidates/restore_candidate",
        tenant_id=caller.tenant_id,
        candidate_id=candidate_id,
        **caller.visibility,
        viewer=viewer_of(caller, badges_for_all=badges_for_all),
        event=audit_event(caller, "requeued", now),
    )
    if not rows:
        raise CandidateNotFound(candidate_id)
    if not rows[0]["restored"]:
        raise NothingToRestore(candidate_id)
    stored = rows[0]["candidate"]
    window = await editing_window(graph, caller.tenant_id, stored["persona_id"])
    return candidate_from_row(stored, window)


async def editing_window(graph: Graph, tenant_id: str, persona_id: str) -> timedelta:
    """How long each candidate of a persona can be changed."""
    policy = await read_policy(graph, tenant_id, persona_id)
    return timedelta(hours=policy.figures.editing_window_hours)


async def update_candidate(
    graph: Graph,
    caller: Caller,
    candidate_id: str,
    changes: Row,
    event: Row,
    *,
    embedding: Any,
    badges_for_all: bool = False,
) -> Candidate:
    """Change the properties of a candidate, if its editing window is open."""
    owners = await graph.read(
        "memory/candidates/find_persona", tenant_id=caller.tenant_id, candidate_id=candidate_id
    )
    if not owners:
        raise CandidateNotFound(candidate_id)
    window = await editing_window(graph, caller.tenant_id, owners[0]["persona_id"])
    rows = await graph.write(
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
    if not rows:
        raise CandidateNotFound(candidate_id)
    if not rows[0]["changed"]:
        memory_id = await find_memory_of_candidate(graph, caller, candidate_id)
        raise CandidateClosed(candidate_id, memory_id)
    return candidate_from_row(rows[0]["candidate"], window)


async def find_memory_of_candidate(graph: Graph, caller: Caller, candidate_id: str) -> str | None:
    """The id of the memory that a candidate has become part of, if the caller may see it."""
    rows = await graph.read(
        "memory/candidates/find_memory", tenant_id=caller.tenant_id, candidate_id=candidate_id
    )
    if not rows:
        return None
    memory_id: str = rows[0]["memory_id"]
    visible = await graph.read(
        "memory/memories/get_memory",
        tenant_id=caller.tenant_id,
        memory_id=memory_id,
        **caller.visibility,
        viewer=None,
    )
    return memory_id if visible else None


async def read_gate(graph: Graph, tenant_id: str, persona_id: str) -> Gate:
    """What the gate let through and left out of the newest 20,000 messages, as counts."""
    await get_persona(graph, tenant_id, persona_id)
    (row,) = await graph.read(
        "memory/candidates/count_gate_results",
        tenant_id=tenant_id,
        persona_id=persona_id,
        conversations=GATE_CONVERSATIONS,
        most=GATE_MESSAGES,
    )
    return Gate(
        messages=row["messages"],
        candidates={kept["memory_type"]: kept["candidates"] for kept in row["candidates"]},
        left_out={left_out["reason"]: left_out["messages"] for left_out in row["left_out"]},
    )


def candidate_from_row(row: Row, window: timedelta) -> Candidate:
    """A candidate without the flags that its caller may not see."""
    is_hidden = hides_flags(row)
    return Candidate(
        candidate_id=row["id"],
        source_message_ids=row["sources"],
        persona_id=row["persona_id"],
        memory_type=MemoryType(row["memory_type"]),
        text=row["text"],
        content=decode_content(row["content"]),
        extracted_at=row["extracted_at"],
        editable_until=row["extracted_at"] + window,
        state=CandidateState(shown_state(row)),
        deprioritized=row["flagged"] and not is_hidden,
        deprioritized_at=None if is_hidden else row["deprioritized_at"],
    )
