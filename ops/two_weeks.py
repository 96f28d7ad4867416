"""Two weeks of a persona's life in a minute: what is said is drawn from and slept on, day by day.

Everything goes through the engine as it would in those two weeks, at the times of those two weeks.
A persona that has lived through them is left as it is, so telling its story again changes nothing.
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
from engine.night import Run, list_changes, list_runs, run_night
from engine.policy import Layer, next_night, night_of, read_persona_policy, set_persona_policy
from engine.settings import Settings
from engine.store import Graph
from engine.talk import Conversation, Message, Speaker, add_conversation, record_messages

TALK = Path(__file__).parent / "talk" / "two_weeks.jsonl"
TENANT = "two-weeks"
INSTANCE = "studio"
USER = "sam"
TIME_ZONE = "Europe/Lisbon"

QUIET = 1  # days after the last word, until all of it is old enough for the night
PAUSE = timedelta(minutes=30)  # a longer silence ends a chat; what was said in it is drawn from
ALL = 10_000  # more than two weeks make of anything

# What is talked about again and again. When Sam does, Ada uses what she remembers of it.
CUES = ("Miso", "tomatoes", "guitar", "glaze", "knee")
RECALLED = 4  # memories used at once

# The two weeks are long over: without this, everything would fade at once when the timetable comes.
KEEPS = Layer(figures={"decay_days": 36_500})


@dataclass(frozen=True, slots=True)
class Line:
    """One thing said in the two weeks."""

    message_id: str
    at: datetime
    role: Speaker
    content: str


@dataclass(frozen=True, slots=True)
class Heard:
    """A message, and what became of it."""

    content: str
    left_out: list[str]  # why it, or part of it, was not drawn from
    drawn: list[str]  # the memory types of its candidates


@dataclass(frozen=True, slots=True)
class Day:
    """What was said on one day, and what the night after it did."""

    on: date
    heard: list[Heard]
    night: Run
    changes: list[Change]
    lived_before: bool  # told from the ledger, since it was over already


@dataclass(frozen=True, slots=True)
class Life:
    """A persona that lives through the two weeks, and what it takes to do so."""

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
    """Make what is missing of the persona; `again` makes another one beside those there are."""
    now = datetime.now(UTC)
    await add_tenant(graph, tenant_id, name="Two weeks", now=now)
    there = len((await list_personas(graph, tenant_id, limit=ALL)).items)
    number = max(1, there + again)
    life = Life(graph, embedder, settings, tenant_id, "ada" if number == 1 else f"ada-{number}")
    # Made now, it has its next night tomorrow: the timetable does not come between those of May.
    ada = Persona(life.persona_id, "Ada", Tone.WARM, TIME_ZONE, now, now)
    await add_persona(graph, tenant_id, ada)
    if (await read_persona_policy(graph, tenant_id, ada.id)).own != KEEPS:
        await set_persona_policy(graph, tenant_id, ada.id, KEEPS)
    await add_instance(graph, tenant_id, Instance(INSTANCE, "Studio", now))
    await put_member(graph, tenant_id, INSTANCE, USER, role=MemberRole.ADMIN, now=now)
    talk = Conversation(life.conversation_id, INSTANCE, [ada.id], now, "Two weeks in May")
    await add_conversation(graph, life.caller, talk)
    return life


def read_talk(persona_id: str, file: Path = TALK) -> list[Line]:
    """The two weeks, each line with an id of its own that is the same every time."""
    told = map(json.loads, file.read_text().splitlines())
    return [
        Line(
            f"{persona_id}-{place:03}",
            datetime.fromisoformat(it["at"]),
            Speaker(it["role"]),
            it["content"],
        )
        for place, it in enumerate(told, start=1)
    ]


async def live(life: Life, talk: Sequence[Line]) -> AsyncIterator[Day]:
    """Day after day, each with its night; a silent one at the end, until all has had its 24 h."""
    at = life.settings.consolidate_at
    begun = {run.period: run for run in await nights(life)}
    last = max(day_of(line, at) for line in talk)
    said = {on: list(lines) for on, lines in groupby(talk, lambda line: day_of(line, at))}
    for on in (*said, *(last + timedelta(days=n + 1) for n in range(QUIET))):
        begins, ends = night_of_day(on - timedelta(days=1), at), night_of_day(on, at)
        night = begun.get(night_of(ends, TIME_ZONE, at).isoformat())
        over = night is not None and night.state == "done"
        if night is None:  # one that was left open is gone on with, and the day before it stays
            lines = said.get(on, [])
            for chat in chats(lines):
                await speak(life, chat)
            await recall(life, on, lines)
        if night is None or not over:
            night = await sleep(life, ends)
        changes = await changes_of(life, night)
        yield Day(on, await heard(life, begins, ends), night, changes, lived_before=over)


def day_of(line: Line, consolidate_at: str) -> date:
    """A day lasts until its night: what is said at one in the morning belongs to the day before."""
    return night_of(line.at, TIME_ZONE, consolidate_at)


def night_of_day(on: date, consolidate_at: str) -> datetime:
    """When the night comes that ends a day."""
    return next_night(datetime.combine(on, time(12), UTC), TIME_ZONE, consolidate_at)


def chats(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """What was said without a long pause."""
    chat: list[Line] = []
    for line in lines:
        if chat and line.at - chat[-1].at > PAUSE:
            yield chat
            chat = []
        chat.append(line)
    if chat:
        yield chat


async def speak(life: Life, chat: Sequence[Line]) -> None:
    """Record a chat, and draw from it when it is over."""
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
    # Received now, in truth: as of May, they would look like messages that a worker has forgotten.
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


async def recall(life: Life, on: date, lines: Sequence[Line]) -> None:
    """Use together what is remembered of each thing that Sam has come back to."""
    asked = " ".join(line.content for line in lines if line.role is Speaker.USER)
    for cue in CUES:
        if not mentions(asked, cue):
            continue
        known = [it for it in await memories(life, lines[-1].at) if mentions(it.text, cue)]
        newest = sorted(known, key=lambda it: (it.said_at, it.memory_id))[-RECALLED:]
        if len(newest) > 1:
            await coactivate(
                life.graph,
                life.caller,
                life.persona_id,
                [it.memory_id for it in newest],
                use_id=f"{life.persona_id}-{on}-{cue}",
                now=lines[-1].at,
            )


def mentions(text: str, cue: str) -> bool:
    return bool(re.search(rf"\b{cue}\b", text, re.I))


async def sleep(life: Life, now: datetime) -> Run:
    return await run_night(
        life.graph,
        life.tenant_id,
        life.persona_id,
        now=now,
        started_by="demo",
    )


async def nights(life: Life) -> list[Run]:
    found = await list_runs(life.graph, life.tenant_id, life.persona_id, cursor=None, limit=ALL)
    return [run for run in found.items if run.kind == "night" and run.state != "undone"]


async def changes_of(life: Life, night: Run) -> list[Change]:
    return (await list_changes(life.graph, life.tenant_id, night.id, limit=ALL)).items


async def memories(life: Life, now: datetime) -> list[Memory]:
    found = await list_memories(life.graph, life.caller, life.persona_id, now=now, limit=ALL)
    return found.items


async def heard(life: Life, since: datetime, until: datetime) -> list[Heard]:
    rows = await life.graph.read(
        "memory/candidates/list_drawn_messages",
        tenant_id=life.tenant_id,
        conversation_id=life.conversation_id,
        since=since,
        until=until,
    )
    return [
        Heard(row["message"]["content"], row["message"]["left_out"], row["drawn"]) for row in rows
    ]
