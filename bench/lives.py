"""Personas live through whole conversations: every message over HTTP, every night as it comes.

`--data` is a file of conversations as `bench.ingest` describes it; it may be given several times.
Each conversation is one persona's life, day by day on a clock that is moved: what is said on a day
is recorded through the API, drawn from and put into checkpoints by the functions that the worker's
jobs call, and every night that comes due is claimed and run. What each stage took is told for 1,000
messages and for a million characters. Fails when a message is not recorded, when a night does not
end, leaves something undone, or takes longer than it may.
"""

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.progress import track
from rich.table import Table

from api.app import create_app
from bench.ingest import moment
from bench.private import private_neo4j, private_redis
from engine.access import Role, add_tenant, issue_key
from engine.embedding import Embedder, claim_model, open_embedder
from engine.errors import EngineError
from engine.extraction import RuleExtractor
from engine.memory import draw_candidates
from engine.night import claim_due_nights, run_night
from engine.policy import next_night, set_deployment_policy
from engine.settings import Settings
from engine.store import Graph, migrate
from engine.talk import make_checkpoints

BATCH = 50  # messages in a call
DAY = timedelta(days=1)
# What a night may take: so long by itself, and so long for each message of the days it is about.
NIGHT_SECONDS, MESSAGE_SECONDS = 5.0, 0.25


@dataclass(frozen=True)
class Turn:
    """One message of the data."""

    message_id: str
    role: str
    speaker: str
    content: str
    said_at: datetime


@dataclass(frozen=True)
class Conversation:
    """What is said to one persona in its life."""

    name: str
    turns: list[Turn]

    @property
    def days(self) -> Iterator[tuple[datetime, list[Turn]]]:
        """Midnight of each day on which something is said, and what is."""
        for _, said in groupby(self.turns, key=lambda turn: turn.said_at.date()):
            turns = list(said)
            yield turns[0].said_at.replace(hour=0, minute=0, second=0, microsecond=0), turns


@dataclass
class Lived:
    """What it took, and what went wrong."""

    messages: int = 0
    characters: int = 0
    nights: int = 0
    longest_night: float = 0.0
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    failures: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[stage] += time.perf_counter() - started


def read_conversations(data: Path) -> list[Conversation]:
    found = []
    for line in data.read_text().splitlines():
        told = json.loads(line)
        turns = [
            Turn(
                message_id=f"{told['conversation']}.{turn['id']}",
                role="persona" if turn.get("role") == "assistant" else "user",
                speaker=turn["speaker"],
                content=turn["text"],
                said_at=moment(turn["datetime"], place),
            )
            for place, turn in enumerate(told["turns"])
        ]
        found.append(
            Conversation(told["conversation"], sorted(turns, key=lambda turn: turn.said_at))
        )
    return found


@dataclass(frozen=True)
class World:
    """Where personas live: the API as a client sees it, and what the jobs work with."""

    graph: Graph
    embedder: Embedder
    client: httpx.AsyncClient
    tenant_id: str

    async def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        return await self.client.post(f"/api/{path}", json=body)

    async def live(self, conversation: Conversation, lived: Lived) -> None:
        """One persona's whole life."""
        name = conversation.name
        await self.move_clock(conversation.turns[0].said_at)
        opened = {"id": name, "instance_id": "bench", "persona_ids": [name]}
        for path, body in (
            ("instances", {"id": "bench", "name": "Bench"}),
            ("personas", {"id": name, "name": "Ada", "time_zone": "UTC"}),
            ("conversations", opened),
        ):
            made = await self.post(path, body)
            if made.status_code not in (200, 201):
                lived.failures.append(f"{path}: {made.status_code} {made.text[:200]}")
                return
        said: list[tuple[datetime, int]] = []  # days, and how much was said on them
        night = next_night(conversation.turns[0].said_at, "UTC", "03:00")
        for midnight, turns in conversation.days:
            night = await self.sleep(name, night, turns[0].said_at, said, lived)
            await self.spend_day(name, turns, lived)
            said.append((midnight, len(turns)))
        await self.sleep(name, night, conversation.turns[-1].said_at + 2 * DAY, said, lived)
        await self.check(name, conversation, lived)

    async def spend_day(self, name: str, turns: Sequence[Turn], lived: Lived) -> None:
        for at in range(0, len(turns), BATCH):
            batch = turns[at : at + BATCH]
            now = batch[-1].said_at
            await self.move_clock(now)
            with lived.timed("record"):
                answer = await self.post(
                    f"conversations/{name}/messages",
                    {"messages": [as_body(it, name) for it in batch]},
                )
            if answer.status_code != 201:
                lived.failures.append(f"messages: {answer.status_code} {answer.text[:200]}")
                continue
            lived.messages += len(batch)
            lived.characters += sum(len(turn.content) for turn in batch)
            with lived.timed("draw"):
                await draw_candidates(
                    self.graph, self.embedder, RuleExtractor(), self.tenant_id, name, now=now
                )
            with lived.timed("checkpoint"):
                await make_checkpoints(self.graph, self.tenant_id, name, now=now)

    async def sleep(
        self,
        name: str,
        at: datetime,
        until: datetime,
        said: list[tuple[datetime, int]],
        lived: Lived,
    ) -> datetime:
        """Run every night before a time, as the timetable would. Returns when the next one is."""
        while at <= until:
            await self.move_clock(at)
            due = await claim_due_nights(self.graph, now=at, limit=1000)
            if (self.tenant_id, name) in due:
                lately = sum(count for midnight, count in said if at - midnight <= 4 * DAY)
                await self.night(name, at, lately, lived)
            else:
                lived.failures.append(f"night of {at:%Y-%m-%d}: was not due")
            at += DAY
        return at

    async def night(self, name: str, at: datetime, said: int, lived: Lived) -> None:
        started = time.perf_counter()
        try:
            run = await run_night(self.graph, self.tenant_id, name, now=at, started_by="bench")
        except EngineError as error:
            lived.failures.append(f"night of {at:%Y-%m-%d}: {error}")
            return
        took = time.perf_counter() - started
        lived.nights += 1
        lived.longest_night = max(lived.longest_night, took)
        for stage in run.stages:
            lived.seconds[f"night: {stage.stage}"] += stage.seconds or 0.0
            left = {why: it for why, it in stage.could_not.items() if why not in EXPECTED}
            if left:
                lived.failures.append(f"night of {at:%Y-%m-%d}, {stage.stage}: left {left}")
        lived.seconds["night: the rest"] += took - (run.seconds or 0.0)
        if run.state != "done":
            lived.failures.append(f"night of {at:%Y-%m-%d}: {run.state}")
        if took > NIGHT_SECONDS + MESSAGE_SECONDS * said:
            lived.failures.append(f"night of {at:%Y-%m-%d}: {took:.1f} s for {said} messages")

    async def check(self, name: str, conversation: Conversation, lived: Lived) -> None:
        """Every message can be read again, and nothing waits."""
        found, cursor = 0, None
        while True:
            page = await self.client.get(
                f"/api/conversations/{name}/messages",
                params={"limit": 200} | ({"cursor": cursor} if cursor else {}),
            )
            if page.status_code != 200:
                lived.failures.append(f"reading messages: {page.status_code}")
                return
            found += len(page.json()["items"])
            cursor = page.json()["next_cursor"]
            if not cursor:
                break
        if found != len(conversation.turns):
            lived.failures.append(f"{found} of {len(conversation.turns)} messages are there")
        pending = await self.client.get(f"/api/personas/{name}/candidates", params={"limit": 1})
        if pending.json()["items"]:
            lived.failures.append("candidates still wait after the last night")

    async def move_clock(self, now: datetime) -> None:
        answer = await self.client.put("/api/clock", json={"now": now.isoformat()})
        answer.raise_for_status()


EXPECTED = ("editable", "suppressed", "pinned")  # what a night leaves by rule


def as_body(turn: Turn, persona_id: str) -> dict[str, Any]:
    body = {
        "message_id": turn.message_id,
        "persona_id": persona_id,
        "role": turn.role,
        "content": turn.content,
        "timestamp": turn.said_at.isoformat(),
    }
    if turn.role == "user":
        body |= {"speaker": turn.speaker, "user_id": turn.speaker.lower()}
    return body


@contextlib.asynccontextmanager
async def world(settings: Settings) -> AsyncIterator[World]:
    """A tenant of its own behind an API in this process."""
    graph, embedder = Graph.open(settings), open_embedder(settings)
    await migrate(graph)
    await claim_model(graph, embedder)
    await set_deployment_policy(graph, settings)
    tenant_id, now = "bench", datetime.now(UTC)
    await add_tenant(graph, tenant_id, name="Bench", now=now)
    key = await issue_key(graph, tenant_id, name="bench", role=Role.ADMIN, now=now)
    app = create_app(settings)
    async with (
        app.lifespan(),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False),
            base_url="http://bench",
            headers={"Authorization": f"Bearer {key.api_key}"},
            timeout=60,
        ) as client,
    ):
        yield World(graph, embedder, client, tenant_id)
        await client.put("/api/clock", json={"now": None})
    embedder.close()
    await graph.close()


async def live_through(
    settings: Settings, files: Sequence[Path], most: int | None
) -> dict[str, Lived]:
    lives: dict[str, Lived] = {}
    async with world(settings) as here:
        for file in files:
            lived = lives[corpus_of(file)] = Lived()
            for conversation in track(read_conversations(file)[:most], corpus_of(file)):
                await here.live(conversation, lived)
    return lives


def corpus_of(file: Path) -> str:
    return file.parent.name or file.stem


def report(lives: dict[str, Lived], console: Console) -> int:
    for corpus, lived in lives.items():
        table = Table(
            "stage", "seconds", "for 1,000 messages", "for 1,000,000 characters", title=corpus
        )
        for stage, seconds in lived.seconds.items():
            table.add_row(
                stage,
                f"{seconds:.2f}",
                f"{1000 * seconds / max(1, lived.messages):.2f}",
                f"{1_000_000 * seconds / max(1, lived.characters):.2f}",
            )
        console.print(table)
        console.print(
            f"{lived.messages} messages, {lived.characters} characters, {lived.nights} nights, "
            f"the longest {lived.longest_night:.1f} s; allowed are {NIGHT_SECONDS:g} s and "
            f"{MESSAGE_SECONDS:g} s for each message of the days before."
        )
        for failure in lived.failures:
            console.print(f"[red]{failure}")
    return int(any(lived.failures for lived in lives.values()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, action="append")
    parser.add_argument("--limit", type=int, help="conversations of each file")
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        private_neo4j(Path(folder)) as settings,
        private_redis(Path(folder)) as redis_url,
    ):
        own = {"redis_url": redis_url, "clock": "movable", "log_level": "error"}
        lives = asyncio.run(live_through(settings.model_copy(update=own), asked.data, asked.limit))
    return report(lives, Console(width=110))


if __name__ == "__main__":
    sys.exit(main())
