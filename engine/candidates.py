"""Candidates: drawn from messages as they arrive, changed inside the editing window."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from engine.embedding import Embedder
from engine.errors import (
    CandidateClosed,
    CandidateNotFound,
    IdTaken,
    MessageNotFound,
    NothingToRestore,
    PersonaNotFound,
)
from engine.extraction import Said
from engine.extraction.port import Extractor
from engine.facets import Saying, embed_sayings, shelf
from engine.facts import fact_of
from engine.graph import Graph, Row
from engine.models import Candidate, CandidateState, Gate, MemoryType, Page, id_from, new_id
from engine.paging import after, page
from engine.personas import get_persona

MESSAGES_AT_ONCE = 64  # drawn from, embedded and kept as one transaction
OVERDUE = timedelta(seconds=30)  # a message that waited longer was forgotten by the broker


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
            "candidates/list_waiting_messages",
            tenant_id=tenant_id,
            conversation_id=conversation_id,
            limit=MESSAGES_AT_ONCE,
        )
        if not rows:
            return Drawn(messages, candidates)
        waiting = [row["message"] for row in rows]
        extractions = await asyncio.gather(
            *(extractor.draw(as_said(it), is_repeat=it["is_repeat"]) for it in waiting)
        )
        sayings = [
            Saying(
                item.meaning,
                it["before"] if item.memory_type is MemoryType.EPISODIC else None,
                kept_as=item.text,
            )
            for it, extraction in zip(waiting, extractions, strict=True)
            for item in extraction.items
        ]
        embedded = iter(await embed_sayings(embedder, sayings))
        await meet_people(graph, tenant_id, waiting)
        (kept,) = await graph.write(
            "candidates/keep_drawn",
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
                            "content": as_text(item.content),
                            "filed": filed(item.content),
                            "shelf": shelf(tenant_id, message["persona_id"]),
                            **next(embedded).whole,
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


async def meet_people(graph: Graph, tenant_id: str, messages: Sequence[Row]) -> None:
    """Let each persona know by name who speaks to it for the first time."""
    met: dict[str, list[str]] = {}
    for message in messages:
        if not message["is_known"]:
            met.setdefault(message["persona_id"], []).append(message["speaker"])
    if met:
        rows = [{"persona_id": it, "names": list(dict.fromkeys(met[it]))} for it in sorted(met)]
        await graph.write("personas/meet_people", tenant_id=tenant_id, met=rows)


def as_said(message: Row) -> Said:
    return Said(
        message_id=message["id"],
        speaker=message["speaker"],
        role=message["role"],
        content=message["content"],
        said_at=message["said_at"],
        conversation=message["where"],
    )


async def overdue_conversations(
    graph: Graph, *, now: datetime, limit: int
) -> list[tuple[str, str]]:
    """Tenant and id of each conversation whose messages nobody drew from in time."""
    rows = await graph.read(
        "candidates/list_waiting_conversations", before=now - OVERDUE, limit=limit
    )
    return [(row["tenant_id"], row["conversation_id"]) for row in rows]


async def propose_candidate(
    graph: Graph,
    embedder: Embedder,
    tenant_id: str,
    persona_id: str,
    *,
    memory_type: MemoryType,
    text: str,
    content: dict[str, Any],
    source_message_ids: Sequence[str],
    chosen_id: str | None,
    now: datetime,
    window: timedelta,
) -> Candidate:
    """Keep a candidate that a runtime has drawn itself."""
    (embedded,) = await embed_sayings(embedder, [Saying(text)])
    proposed = {
        "id": chosen_id or new_id(),
        "memory_type": memory_type.value,
        "text": text,
        "content": as_text(content),
        "extracted_at": now,
    }
    found = await graph.write(
        "candidates/add_candidate",
        tenant_id=tenant_id,
        persona_id=persona_id,
        candidate={**proposed, **embedded.beside, "shelf": shelf(tenant_id, persona_id)},
        filed=filed(content),
        embedding=embedded.embedding,
        sources=list(source_message_ids),
    )
    if not found:
        raise PersonaNotFound(persona_id)
    if found[0]["missing"]:
        raise MessageNotFound(found[0]["missing"][0])
    stored = found[0]["candidate"]
    same = ("memory_type", "text", "content")
    if stored is None or any(stored[name] != proposed[name] for name in same):
        raise IdTaken("candidate", str(proposed["id"]))
    return as_candidate(stored, window)


async def list_candidates(
    graph: Graph,
    tenant_id: str,
    persona_id: str,
    *,
    states: Sequence[CandidateState],
    window: timedelta,
    cursor: str | None = None,
    limit: int,
) -> Page[Candidate]:
    await get_persona(graph, tenant_id, persona_id)
    rows = await graph.read(
        "candidates/list_candidates",
        tenant_id=tenant_id,
        persona_id=persona_id,
        states=[state.value for state in states],
        after=after(cursor),
        limit=limit + 1,
    )
    found = [as_candidate(row["candidate"], window) for row in rows]
    return page(found, limit, lambda candidate: candidate.candidate_id)


async def edit_candidate(
    graph: Graph,
    embedder: Embedder,
    tenant_id: str,
    candidate_id: str,
    *,
    text: str | None,
    content: dict[str, Any] | None,
    now: datetime,
    window: timedelta,
) -> Candidate:
    """Change what a candidate says, while its editing window is open."""
    changes: Row = {"edited_at": now}
    if text is not None:
        changes["text"] = text
    if content is not None:
        changes |= {"content": as_text(content), **filed(content)}
    embedding = None
    if text is not None:
        (embedded,) = await embed_sayings(embedder, [Saying(text)])
        embedding = embedded.embedding
        changes |= embedded.beside
    return await change(graph, tenant_id, candidate_id, changes, embedding, now, window)


async def remove_candidate(
    graph: Graph, tenant_id: str, candidate_id: str, *, now: datetime, window: timedelta
) -> Candidate:
    """Take a candidate out for good, while its editing window is open."""
    changes = {"state": CandidateState.REMOVED.value, "removed_at": now}
    return await change(graph, tenant_id, candidate_id, changes, None, now, window)


async def restore_candidate(
    graph: Graph, tenant_id: str, candidate_id: str, *, now: datetime, window: timedelta
) -> Candidate:
    """Put a candidate that the night has passed over into the queue of the next one."""
    found = await graph.write(
        "candidates/restore_candidate", tenant_id=tenant_id, candidate_id=candidate_id, now=now
    )
    if not found:
        raise CandidateNotFound(candidate_id)
    if not found[0]["restored"]:
        raise NothingToRestore(candidate_id)
    return as_candidate(found[0]["candidate"], window)


async def change(
    graph: Graph,
    tenant_id: str,
    candidate_id: str,
    changes: Row,
    embedding: Any,
    now: datetime,
    window: timedelta,
) -> Candidate:
    found = await graph.write(
        "candidates/change_candidate",
        tenant_id=tenant_id,
        candidate_id=candidate_id,
        changes=changes,
        embedding=embedding,
        drawn_after=now - window,
    )
    if not found:
        raise CandidateNotFound(candidate_id)
    if not found[0]["changed"]:
        raise CandidateClosed(candidate_id)
    return as_candidate(found[0]["candidate"], window)


async def read_gate(graph: Graph, tenant_id: str, persona_id: str) -> Gate:
    """What the gate let through and left out, so that it can be judged on real conversations."""
    await get_persona(graph, tenant_id, persona_id)
    (row,) = await graph.read("candidates/count_gate", tenant_id=tenant_id, persona_id=persona_id)
    return Gate(
        messages=row["messages"],
        candidates={it["memory_type"]: it["candidates"] for it in row["candidates"]},
        left_out={it["reason"]: it["messages"] for it in row["left_out"]},
    )


def filed(content: dict[str, Any]) -> Row:
    """What the graph finds an item by: who it is about, its category, the fact it states."""
    about = content.get("subject") or content.get("who")
    category = content.get("category") or content.get("kind")
    felt = {name: content.get(name) for name in ("valence", "arousal")}
    return {
        "about": about if isinstance(about, str) else None,
        "category": category if isinstance(category, str) else None,
        "fact": fact_of(content),
        **{name: it if isinstance(it, int | float) else None for name, it in felt.items()},
    }


def as_text(content: dict[str, Any]) -> str:
    """An object as a property can hold it, the same for the same object."""
    return json.dumps(content, sort_keys=True, ensure_ascii=False)


def as_candidate(stored: Row, window: timedelta) -> Candidate:
    return Candidate(
        candidate_id=stored["id"],
        source_message_ids=stored["sources"],
        persona_id=stored["persona_id"],
        memory_type=MemoryType(stored["memory_type"]),
        text=stored["text"],
        content=json.loads(stored["content"]),
        extracted_at=stored["extracted_at"],
        editable_until=stored["extracted_at"] + window,
        state=CandidateState(stored["state"]),
        deprioritized=stored["flagged"],
        deprioritized_at=stored["deprioritized_at"],
    )
