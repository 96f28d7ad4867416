"""Measures messages per second from the request to drawn candidates, on long conversations.

`--data` is a file of conversations as `ops.transcripts` describes it. Messages are sent over HTTP
in batches, and the worker draws candidates from them. Then the same engine functions run with an
encoder that costs nothing, to see how much of it is embedding.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from rich.console import Console
from rich.table import Table

from bench.private import private_stack
from engine.access import (
    Caller,
    Instance,
    Persona,
    Role,
    Tone,
    add_instance,
    add_persona,
    add_tenant,
)
from engine.embedding import Embedder, Encoder, Vector
from engine.extraction import RuleExtractor
from engine.memory import Gate, draw_candidates, read_gate
from engine.settings import Settings
from engine.store import Graph
from engine.talk import Conversation, Message, add_conversation, record_messages
from ops.transcripts import read_transcripts

BATCH_SIZE = 50  # messages in a request
MAX_WAIT_SECONDS = 1800  # for the candidates of a conversation
MIN_RATE = 100  # messages per second without embedding


@dataclass(frozen=True)
class Talk:
    """One conversation of the data, as messages to one persona."""

    name: str
    messages: list[Message]

    @property
    def batches(self) -> list[list[Message]]:
        starts = range(0, len(self.messages), BATCH_SIZE)
        return [self.messages[start : start + BATCH_SIZE] for start in starts]


def read_talks(data: Path) -> list[Talk]:
    """The conversations of a file, each with a persona of its own name."""
    return [
        Talk(found.name, [found.as_message(turn, found.name, found.name) for turn in found.turns])
        for found in read_transcripts(data)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    talks = read_talks(parser.parse_args().data)
    with (
        tempfile.TemporaryDirectory() as folder,
        private_stack(Path(folder)) as (stack, settings, key),
    ):
        with httpx.Client(
            base_url=f"{stack.api_url}/api", headers={"Authorization": f"Bearer {key}"}, timeout=60
        ) as client:
            recorded, drawn = send_over_http(client, talks)
        without = asyncio.run(run_without_embedding(settings, talks))
    return report(talks, recorded, drawn, without)


def send_over_http(client: httpx.Client, talks: Sequence[Talk]) -> tuple[float, float]:
    """Seconds until all messages were recorded, and until all candidates were drawn."""
    post(client, "instances", {"id": "bench", "name": "Bench"})
    for talk in talks:
        post(client, "personas", {"id": talk.name, "name": talk.name})
        body = {"id": talk.name, "instance_id": "bench", "persona_ids": [talk.name]}
        post(client, "conversations", body)
    post(client, f"conversations/{talks[0].name}/messages", as_body(talks[0].messages[:1]))
    wait_for(client, talks[0], 1)  # until the worker has loaded its model

    started = time.perf_counter()
    for talk in talks:
        for batch in talk.batches:
            post(client, f"conversations/{talk.name}/messages", as_body(batch))
    recorded = time.perf_counter() - started
    for talk in talks:
        wait_for(client, talk, len(talk.messages))
    return recorded, time.perf_counter() - started


def post(client: httpx.Client, path: str, body: dict[str, Any]) -> None:
    client.post(f"/{path}", json=body).raise_for_status()


def as_body(messages: Sequence[Message]) -> dict[str, Any]:
    return {
        "messages": [
            {
                "message_id": message.message_id.replace(":", "-"),
                "persona_id": message.persona_id,
                "role": message.role,
                "content": message.content,
                "timestamp": message.timestamp.isoformat(),
                "speaker": message.speaker,
                "user_id": message.user_id,
            }
            for message in messages
        ]
    }


def wait_for(client: httpx.Client, talk: Talk, messages: int) -> None:
    """Wait until candidates were drawn from so many messages."""
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while client.get(f"/personas/{talk.name}/gate").json()["messages"] < messages:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{talk.name} was not processed within {MAX_WAIT_SECONDS} s")
        time.sleep(0.1)


class NoEncoder(Encoder):
    """The same vector for every text, at no cost."""

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        return [np.ones(384, dtype=np.float32)] * len(texts)


@dataclass(frozen=True)
class WithoutEmbedding:
    """Seconds for all conversations, and what the gate counted in each."""

    seconds: float
    gates: list[Gate]


async def run_without_embedding(settings: Settings, talks: Sequence[Talk]) -> WithoutEmbedding:
    """Record and draw in this process, with vectors that cost nothing."""
    graph, caller = Graph.open(settings), Caller("bare", "bench", Role.ADMIN)
    embedder = Embedder(NoEncoder, model="none", dimensions=384, cache=0)
    now = datetime.now(UTC)
    await add_tenant(graph, caller.tenant_id, name="Bare", now=now)
    await add_instance(graph, caller.tenant_id, Instance("bench", "Bench", now))
    for talk in talks:
        persona = Persona(talk.name, talk.name, Tone.PLAIN, "UTC", now, now)
        await add_persona(graph, caller.tenant_id, persona)
        conversation = Conversation(talk.name, "bench", [talk.name], now)
        await add_conversation(graph, caller, conversation)
    started = time.perf_counter()
    for talk in talks:
        for batch in talk.batches:
            await record_messages(graph, caller, talk.name, batch, now=now)
            await draw_candidates(
                graph, embedder, RuleExtractor(), caller.tenant_id, talk.name, now=now
            )
    seconds = time.perf_counter() - started
    gates = [await read_gate(graph, caller.tenant_id, talk.name) for talk in talks]
    embedder.close()
    await graph.close()
    return WithoutEmbedding(seconds, gates)


def report(talks: Sequence[Talk], recorded: float, drawn: float, without: WithoutEmbedding) -> int:
    total = sum(len(talk.messages) for talk in talks)
    table = Table("what", "messages per second", "seconds")
    for name, seconds in {
        "recorded over HTTP": recorded,
        "candidates, with embedding": drawn,
        "candidates, without embedding": without.seconds,
    }.items():
        table.add_row(name, f"{total / seconds:.0f}", f"{seconds:.1f}")
    console = Console()
    console.print(f"{total} messages of {len(talks)} conversations, {BATCH_SIZE} in a request")
    console.print(table)
    for part in ("candidates", "left_out"):
        counts: dict[str, int] = {}
        for gate in without.gates:
            for name, number in getattr(gate, part).items():
                counts[name] = counts.get(name, 0) + number
        most_first = sorted(counts.items(), key=lambda entry: -entry[1])
        console.print(part.replace("_", " "), dict(most_first))
    return int(total / without.seconds < MIN_RATE)


if __name__ == "__main__":
    sys.exit(main())
