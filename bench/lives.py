"""Replays whole conversations: every message over HTTP, and every night when it is due.

`--data` is a file of conversations as `ops.transcripts` describes it; it may be given several
times. Each conversation has its own persona and runs day by day on a movable clock: messages are
recorded through the API, candidates and checkpoints are made by the functions that the worker's
jobs call, and every night that is due is claimed and run. Reports seconds per stage for 1,000
messages and for a million characters. Fails when a message is not recorded, or when a night does
not end, leaves something undone or takes too long.
"""

import argparse
import asyncio
import contextlib
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.progress import track
from rich.table import Table

from api.app import create_app
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
from engine.talk import Speaker, make_checkpoints
from ops.transcripts import Transcript, Turn, read_transcripts

BATCH_SIZE = 50  # messages in a request
DAY = timedelta(days=1)
# What a night may take: a base, and so much for each message of the last four days.
NIGHT_SECONDS, MESSAGE_SECONDS = 5.0, 0.25


@dataclass
class Replay:
    """Counts, seconds by stage, and what went wrong."""

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


@dataclass(frozen=True)
class Engine:
    """The API through a client, and what the worker's jobs use."""

    graph: Graph
    embedder: Embedder
    client: httpx.AsyncClient
    tenant_id: str

    async def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        return await self.client.post(f"/api/{path}", json=body)

    async def replay(self, conversation: Transcript, replay: Replay) -> None:
        """Replay one conversation with all its nights."""
        name = conversation.name
        await self.move_clock(conversation.turns[0].said_at)
        conversation_body = {"id": name, "instance_id": "bench", "persona_ids": [name]}
        for path, body in (
            ("instances", {"id": "bench", "name": "Bench"}),
            ("personas", {"id": name, "name": "Ada", "time_zone": "UTC"}),
            ("conversations", conversation_body),
        ):
            answer = await self.post(path, body)
            if answer.status_code not in (200, 201):
                replay.failures.append(f"{path}: {answer.status_code} {answer.text[:200]}")
                return
        said: list[tuple[datetime, int]] = []  # midnights, and the messages of the day
        night = next_night(conversation.turns[0].said_at, "UTC", "03:00")
        for midnight, turns in conversation.days:
            night = await self.run_nights(name, night, turns[0].said_at, said, replay)
            await self.record_day(name, turns, replay)
            said.append((midnight, len(turns)))
        await self.run_nights(name, night, conversation.turns[-1].said_at + 2 * DAY, said, replay)
        await self.check(name, conversation, replay)

    async def record_day(self, name: str, turns: Sequence[Turn], replay: Replay) -> None:
        for start in range(0, len(turns), BATCH_SIZE):
            batch = turns[start : start + BATCH_SIZE]
            now = batch[-1].said_at
            await self.move_clock(now)
            with replay.timed("record"):
                answer = await self.post(
                    f"conversations/{name}/messages",
                    {"messages": [as_body(turn, name) for turn in batch]},
                )
            if answer.status_code != 201:
                replay.failures.append(f"messages: {answer.status_code} {answer.text[:200]}")
                continue
            replay.messages += len(batch)
            replay.characters += sum(len(turn.content) for turn in batch)
            with replay.timed("draw"):
                await draw_candidates(
                    self.graph, self.embedder, RuleExtractor(), self.tenant_id, name, now=now
                )
            with replay.timed("checkpoint"):
                await make_checkpoints(self.graph, self.tenant_id, name, now=now)

    async def run_nights(
        self,
        name: str,
        at: datetime,
        until: datetime,
        said: list[tuple[datetime, int]],
        replay: Replay,
    ) -> datetime:
        """Run every night until a time, as the timetable would. Returns when the next is due."""
        while at <= until:
            await self.move_clock(at)
            due = await claim_due_nights(self.graph, now=at, limit=1000)
            if (self.tenant_id, name) in due:
                recent = sum(count for midnight, count in said if at - midnight <= 4 * DAY)
                await self.run_night(name, at, recent, replay)
            else:
                replay.failures.append(f"night of {at:%Y-%m-%d}: was not due")
            at += DAY
        return at

    async def run_night(self, name: str, at: datetime, messages: int, replay: Replay) -> None:
        started = time.perf_counter()
        try:
            run = await run_night(self.graph, self.tenant_id, name, now=at, started_by="bench")
        except EngineError as error:
            replay.failures.append(f"night of {at:%Y-%m-%d}: {error}")
            return
        seconds = time.perf_counter() - started
        replay.nights += 1
        replay.longest_night = max(replay.longest_night, seconds)
        for stage in run.stages:
            replay.seconds[f"night: {stage.stage}"] += stage.seconds or 0.0
            undone = {
                reason: count for reason, count in stage.could_not.items() if reason not in EXPECTED
            }
            if undone:
                replay.failures.append(f"night of {at:%Y-%m-%d}, {stage.stage}: undone {undone}")
        replay.seconds["night: the rest"] += seconds - (run.seconds or 0.0)
        if run.state != "done":
            replay.failures.append(f"night of {at:%Y-%m-%d}: {run.state}")
        if seconds > NIGHT_SECONDS + MESSAGE_SECONDS * messages:
            replay.failures.append(
                f"night of {at:%Y-%m-%d}: {seconds:.1f} s for {messages} messages"
            )

    async def check(self, name: str, conversation: Transcript, replay: Replay) -> None:
        """Check that every message can be read, and that no candidate waits."""
        count, cursor = 0, None
        while True:
            page = await self.client.get(
                f"/api/conversations/{name}/messages",
                params={"limit": 200} | ({"cursor": cursor} if cursor else {}),
            )
            if page.status_code != 200:
                replay.failures.append(f"reading messages: {page.status_code}")
                return
            count += len(page.json()["items"])
            cursor = page.json()["next_cursor"]
            if not cursor:
                break
        if count != len(conversation.turns):
            replay.failures.append(f"{count} of {len(conversation.turns)} messages are there")
        pending = await self.client.get(f"/api/personas/{name}/candidates", params={"limit": 1})
        if pending.json()["items"]:
            replay.failures.append("candidates still wait after the last night")

    async def move_clock(self, now: datetime) -> None:
        answer = await self.client.put("/api/clock", json={"now": now.isoformat()})
        answer.raise_for_status()


EXPECTED = ("editable", "suppressed", "pinned")  # reasons why a night leaves something undone


def as_body(turn: Turn, persona_id: str) -> dict[str, Any]:
    body = {
        "message_id": turn.message_id,
        "persona_id": persona_id,
        "role": turn.role.value,
        "content": turn.content,
        "timestamp": turn.said_at.isoformat(),
    }
    if turn.role is Speaker.USER:
        body |= {"speaker": turn.speaker, "user_id": turn.speaker.lower()}
    return body


@contextlib.asynccontextmanager
async def open_engine(settings: Settings) -> AsyncIterator[Engine]:
    """An API in this process, with a tenant for the benchmark."""
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
        yield Engine(graph, embedder, client, tenant_id)
        await client.put("/api/clock", json={"now": None})
    embedder.close()
    await graph.close()


async def replay_files(
    settings: Settings, files: Sequence[Path], limit: int | None
) -> dict[str, Replay]:
    """Replay the first conversations of each file. Returns the figures by corpus."""
    replays: dict[str, Replay] = {}
    async with open_engine(settings) as engine:
        for file in files:
            replay = replays[corpus_of(file)] = Replay()
            for conversation in track(read_transcripts(file)[:limit], corpus_of(file)):
                await engine.replay(conversation, replay)
    return replays


def corpus_of(file: Path) -> str:
    return file.parent.name or file.stem


def report(replays: dict[str, Replay], console: Console) -> int:
    for corpus, replay in replays.items():
        table = Table(
            "stage", "seconds", "for 1,000 messages", "for 1,000,000 characters", title=corpus
        )
        for stage, seconds in replay.seconds.items():
            table.add_row(
                stage,
                f"{seconds:.2f}",
                f"{1000 * seconds / max(1, replay.messages):.2f}",
                f"{1_000_000 * seconds / max(1, replay.characters):.2f}",
            )
        console.print(table)
        console.print(
            f"{replay.messages} messages, {replay.characters} characters, {replay.nights} nights, "
            f"the longest {replay.longest_night:.1f} s; allowed are {NIGHT_SECONDS:g} s and "
            f"{MESSAGE_SECONDS:g} s for each message of the days before."
        )
        for failure in replay.failures:
            console.print(f"[red]{failure}")
    return int(any(replay.failures for replay in replays.values()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, action="append")
    parser.add_argument("--limit", type=int, help="replay only so many conversations of each file")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        private_neo4j(Path(folder)) as settings,
        private_redis(Path(folder)) as redis_url,
    ):
        own = {"redis_url": redis_url, "clock": "movable", "log_level": "error"}
        replays = asyncio.run(
            replay_files(settings.model_copy(update=own), arguments.data, arguments.limit)
        )
    return report(replays, Console(width=110))


if __name__ == "__main__":
    sys.exit(main())
