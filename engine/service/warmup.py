"""What a process does once, before it says that it is ready: load the model, plan the statements.

The first use of each costs seconds: a model is read from disk, and Neo4j plans a statement it has
not seen since it started. Nobody's first message should pay for that.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import structlog

import cypher
from engine.embedding import Embedder
from engine.service.readiness import Check
from engine.store import Graph

# What answers people who wait: recall and context, what is said, «Forget This» and its undo.
HOT = (
    "access/keys/find_key",
    "access/tokens/find_token",
    "access/personas/get_persona",
    "policy/read_layers",
    "recall/search/read_card",
    "recall/search/find",
    "recall/context/read_scene",
    "recall/context/list_turns",
    "recall/hydration/list_pinned",
    "recall/hydration/list_recent",
    "talk/conversations/get_conversation",
    "talk/conversations/append_messages",
    "talk/conversations/bind_speakers",
    "talk/conversations/list_messages",
    "talk/conversations/find_message",
    "talk/conversations/list_run",
    "forgetting/flags/read_selection",
    "forgetting/flags/flag_messages",
    "forgetting/flags/undo_flags",
    "talk/events/list_events",
    "memory/memories/add_memory",
    "memory/memories/get_memory",
)
LIMIT = 60.0  # seconds one statement may take to be planned on a busy machine
CONNECTIONS = 4  # opened before anybody asks
PARAMETER = re.compile(r"^// \$(\w+)\s+(.+)$", re.MULTILINE)
ID = "warming-up"  # that nothing has

log = structlog.get_logger("warmup")


class WarmUpState:
    """Whether a process has loaded and planned what its first requests need."""

    def __init__(self) -> None:
        self.planned: list[str] = []  # statements
        self.failed: list[str] = []
        self.done = False

    def check(self) -> Check:
        if not self.done:
            return Check(False, "The model and the statements are still being prepared.")
        return Check(True, f"The model is loaded and {len(self.planned)} statements are planned.")


async def warm_up(
    graph: Graph, embedder: Embedder, warmth: WarmUpState, statements: Sequence[str] = HOT
) -> None:
    """Load the model, open connections, and run the hot statements on nothing.

    A statement that fails here is told in the log and does not keep the process from serving.
    """
    await asyncio.gather(
        load_model(embedder), *(graph.read("store/setup/ping") for _ in range(CONNECTIONS))
    )
    patient = graph.with_limit(LIMIT)
    for name in statements:
        try:
            await plan(patient, name, sample_parameters(name, embedder.dimensions))
        except Exception as error:  # a mistake in one is told by the request that meets it
            warmth.failed.append(name)
            log.warning("not_planned", statement=name, why=type(error).__name__)
        else:
            warmth.planned.append(name)
    warmth.done = True


async def load_model(embedder: Embedder) -> None:
    await embedder.embed(["ready"])
    await embedder.count_tokens(["ready"])
    await embedder.lexicon()


async def plan(graph: Graph, name: str, parameters: Mapping[str, Any]) -> None:
    """Run a statement in a transaction that is undone, so that nothing is changed."""

    async def run(rehearsed: Graph) -> None:
        await rehearsed.read(name, **parameters)

    await graph.preview(run)


def sample_parameters(name: str, dimensions: int) -> dict[str, Any]:
    """Parameters of the types that a statement's header names, with ids that nothing has."""
    listed = PARAMETER.findall(cypher.statement(name))
    return {parameter: sample(kind, dimensions) for parameter, kind in listed}


def sample(kind: str, dimensions: int) -> Any:
    """A value of the type that a header tells in words."""
    if kind.startswith("list of maps"):
        return [{}]
    if kind.startswith("list"):
        return [ID]
    samples: dict[str, Any] = {
        "string": ID,
        "integer": 1,
        "float": 0.5,
        "boolean": False,
        "zoned datetime": datetime(2000, 1, 1, tzinfo=UTC),
        "vector": np.full(dimensions, 0.5, np.float32),
        "map": {},
    }
    return next(value for words, value in samples.items() if kind.startswith(words))
