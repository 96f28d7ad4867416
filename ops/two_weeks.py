"""Simulates two weeks of a persona in a minute: messages, candidates and a night for each day.

Everything goes through the engine's own functions, with the times of those two weeks as `now`.
Days that were simulated before are only read, so running it again changes nothing.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from pathlib import Path

from engine.access import (
    Caller,
    Instance,
    MemberRole,
    Persona,
    Role,
    Tone,
    add_instance,
    add_persona,
    add_tenant,
    list_personas,
    put_member,
)
from engine.embedding import Embedder
from engine.extraction import RuleExtractor
from engine.memory import Change, Memory, coactivate, draw_candidates, list_memories
from engine.night import NightTools, Run, list_changes, list_runs, run_night
from engine.policy import Layer, next_night, night_of, read_persona_policy, set_persona_policy
from engine.settings import Settings
from engine.store import Graph
from engine.talk import Conversation, Message, Speaker, add_conversation, record_messages
from ops.demo import INSTANCE, TENANT, USER

TALK = Path(__file__).parent / "talk" / "two_weeks.jsonl"
PERSONA_ID = "ada-in-may"  # beside the demo tenant's "ada", whom people try things on
TIME_ZONE = "Europe/Lisbon"

SILENT_DAYS = 1  # after the last message, until all of it is old enough for a night
CHAT_PAUSE = timedelta(minutes=30)  # a longer silence ends a chat; then candidates are drawn
PAGE_SIZE = 10_000  # more than two weeks contain of anything

# Topics that come up again and again. When Sam mentions one, Ada's memories of it count as used.
TOPICS = ("Miso", "tomatoes", "guitar", "glaze", "knee")
USED_TOGETHER = 4  # memories

# The two weeks are in the past: without this, the next night by the timetable would let all fade.
NO_DECAY = Layer(figures={"decay_days": 36_500})


@dataclass(frozen=True, slots=True)
class Line:
    """One message of the two weeks, as the file has it."""

    message_id: str
    at: datetime
    role: Speaker
    content: str


@dataclass(frozen=True, slots=True)
class MessageOutcome:
    """A message, and what the extraction made of it."""

    content: str
    left_out: list[str]  # reasons why it, or part of it, gave no candidate
    drawn: list[str]  # the memory types of its candidates


@dataclass(frozen=True, slots=True)
class Day:
    """The messages of one day, and what the night after it changed."""

    on: date
    messages: list[MessageOutcome]
    night: Run
    changes: list[Change]
    was_simulated_before: bool  # then all of this was read from the ledger


@dataclass(frozen=True, slots=True)
class Life:
    """The persona of a simulation, with the graph, embedder and settings it uses."""

    graph: Graph
    embedder: Embedder
    settings: Settings
    tenant_id: str
    persona_id: str

    @property
    def caller(self) -> Caller:
        return Caller(self.tenant_id, "demo", Role.ADMIN)

    @property
    def conversation_id(self) -> str:
        return f"{self.persona_id}-and-{USER}"


async def begin(
    graph: Graph,
    embedder: Embedder,
    settings: Settings,
    *,
    tenant_id: str = TENANT,
    again: bool = False,
) -> Life:
    """Create what is missing of the newest persona; `again` adds another one."""
    now = datetime.now(UTC)
    await add_tenant(graph, tenant_id, name="Demo", now=now)
    listed = (await list_personas(graph, tenant_id, limit=PAGE_SIZE)).items
    number = max(1, sum(persona.id.startswith(PERSONA_ID) for persona in listed) + again)
    persona_id = PERSONA_ID if number == 1 else f"{PERSONA_ID}-{number}"
    life = Life(graph, embedder, settings, tenant_id, persona_id)
    # Created now, its next night by the timetable is tomorrow, not between those simulated here.
    ada = Persona(life.persona_id, "Ada", Tone.WARM, TIME_ZONE, now, now)
    await add_persona(graph, tenant_id, ada)
    if (await read_persona_policy(graph, tenant_id, ada.id)).own != NO_DECAY:
        await set_persona_policy(graph, tenant_id, ada.id, NO_DECAY)
    await add_instance(graph, tenant_id, Instance(INSTANCE, "Studio", now))
    await put_member(graph, tenant_id, INSTANCE, USER, role=MemberRole.ADMIN, now=now)
    conversation = Conversation(life.conversation_id, INSTANCE, [ada.id], now, "Two weeks in May")
    await add_conversation(graph, life.caller, conversation)
    return life


def read_talk(persona_id: str, file: Path = TALK) -> list[Line]:
    """The messages of the two weeks; their ids are the same every time."""
    entries = map(json.loads, file.read_text().splitlines())
    return [
        Line(
            f"{persona_id}-{number:03}",
            datetime.fromisoformat(entry["at"]),
            Speaker(entry["role"]),
            entry["content"],
        )
        for number, entry in enumerate(entries, start=1)
    ]


async def live(life: Life, talk: Sequence[Line]) -> AsyncIterator[Day]:
    """Simulate day after day, each with its night. Yields each day once its night is over.

    A silent day at the end lets the last messages become 24 hours old. A night that was interrupted
    is resumed; its day was recorded before it, and is not recorded again.
    """
    at = life.settings.consolidate_at
    started = {run.period: run for run in await list_nights(life)}
    last = max(day_of(line, at) for line in talk)
    lines_by_day = {on: list(lines) for on, lines in groupby(talk, lambda line: day_of(line, at))}
    silent_days = (last + timedelta(days=number + 1) for number in range(SILENT_DAYS))
    for on in (*lines_by_day, *silent_days):
        begins, ends = night_of_day(on - timedelta(days=1), at), night_of_day(on, at)
        night = started.get(night_of(ends, TIME_ZONE, at).isoformat())
        is_done = night is not None and night.state == "done"
        if night is None:
            lines = lines_by_day.get(on, [])
            for chat in split_into_chats(lines):
                await record_chat(life, chat)
            await use_memories(life, on, lines)
        if night is None or not is_done:
            night = await simulate_night(life, ends)
        changes = await changes_of(life, night)
        messages = await read_outcomes(life, begins, ends)
        yield Day(on, messages, night, changes, was_simulated_before=is_done)


def day_of(line: Line, consolidate_at: str) -> date:
    """The day of a message. A day lasts until its night: 1 a.m. belongs to the day before."""
    return night_of(line.at, TIME_ZONE, consolidate_at)


def night_of_day(on: date, consolidate_at: str) -> datetime:
    """When the night starts that ends a day."""
    return next_night(datetime.combine(on, time(12), UTC), TIME_ZONE, consolidate_at)


def split_into_chats(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Groups of messages without a long pause between them."""
    chat: list[Line] = []
    for line in lines:
        if chat and line.at - chat[-1].at > CHAT_PAUSE:
            yield chat
            chat = []
        chat.append(line)
    if chat:
        yield chat


async def record_chat(life: Life, chat: Sequence[Line]) -> None:
    """Record the messages of a chat and draw candidates from them."""
    messages = [
        Message(
            message_id=line.message_id,
            conversation_id=life.conversation_id,
            persona_id=life.persona_id,
            role=line.role,
            content=line.content,
            timestamp=line.at,
            user_id=USER if line.role is Speaker.USER else None,
            speaker="Sam" if line.role is Speaker.USER else None,
        )
        for line in chat
    ]
    # Received now: with a time in May, the worker would take them for messages it missed.
    now = datetime.now(UTC)
    await record_messages(life.graph, life.caller, life.conversation_id, messages, now=now)
    await draw_candidates(
        life.graph,
        life.embedder,
        RuleExtractor(),
        life.tenant_id,
        life.conversation_id,
        now=chat[-1].at,
    )


async def use_memories(life: Life, on: date, lines: Sequence[Line]) -> None:
    """Count the newest memories of each topic that Sam mentioned as used together."""
    said_by_sam = " ".join(line.content for line in lines if line.role is Speaker.USER)
    for topic in TOPICS:
        if not mentions(said_by_sam, topic):
            continue
        known = await read_memories(life, lines[-1].at)
        related = [memory for memory in known if mentions(memory.text, topic)]
        related.sort(key=lambda memory: (memory.said_at, memory.memory_id))
        newest = related[-USED_TOGETHER:]
        if len(newest) > 1:
            await coactivate(
                life.graph,
                life.caller,
                life.persona_id,
                [memory.memory_id for memory in newest],
                use_id=f"{life.persona_id}-{on}-{topic}",
                now=lines[-1].at,
            )


def mentions(text: str, topic: str) -> bool:
    return bool(re.search(rf"\b{topic}\b", text, re.I))


async def simulate_night(life: Life, now: datetime) -> Run:
    return await run_night(
        life.graph,
        life.tenant_id,
        life.persona_id,
        now=now,
        started_by="demo",
        tools=NightTools(life.embedder),
    )


async def list_nights(life: Life) -> list[Run]:
    page = await list_runs(
        life.graph, life.tenant_id, life.persona_id, cursor=None, limit=PAGE_SIZE
    )
    return [run for run in page.items if run.kind == "night" and run.state != "undone"]


async def changes_of(life: Life, night: Run) -> list[Change]:
    return (await list_changes(life.graph, life.tenant_id, night.id, limit=PAGE_SIZE)).items


async def read_memories(life: Life, now: datetime) -> list[Memory]:
    page = await list_memories(life.graph, life.caller, life.persona_id, now=now, limit=PAGE_SIZE)
    return page.items


async def read_outcomes(life: Life, since: datetime, until: datetime) -> list[MessageOutcome]:
    """What the extraction made of each message between two times."""
    rows = await life.graph.read(
        "memory/candidates/list_drawn_messages",
        tenant_id=life.tenant_id,
        conversation_id=life.conversation_id,
        since=since,
        until=until,
    )
    return [
        MessageOutcome(row["message"]["content"], row["message"]["left_out"], row["drawn"])
        for row in rows
    ]
