"""Warm-up of a process before it reports ready: load the model, plan the statements.

The first use of each costs seconds: the model is read from disk, and Neo4j plans a statement it has
not seen since it started. No request should wait for that.
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

# The statements of requests that a person waits for: recall, context, messages, flags, undo.
HOT_STATEMENTS = (
    "access/keys/find_key",
    "access/tokens/find_token",
    "access/personas/get_persona",
    "policy/read_layers",
    "recall/search/read_profile",
    "recall/search/find_items",
    "recall/search/follow_links",
    "recall/search/check_hits",
    "recall/search/read_changes",
    "recall/search/load_small",
    "recall/search/load_items",
    "recall/search/load_links",
    "recall/context/read_context",
    "recall/context/list_turns",
    "recall/hydration/list_pinned",
    "recall/hydration/list_recent",
    "recall/hydration/list_standing",
    "talk/conversations/get_conversation",
    "talk/conversations/append_messages",
    "talk/conversations/bind_speakers",
    "talk/conversations/list_messages",
    "talk/conversations/find_message",
    "talk/conversations/list_message_range",
    "forgetting/flags/read_selection",
    "forgetting/flags/flag_messages",
    "forgetting/flags/undo_flags",
    "talk/events/list_events",
    "memory/memories/add_memory",
    "memory/memories/get_memory",
)
PLAN_SECONDS = 60.0  # that planning one statement may take on a busy machine
CONNECTIONS = 4  # opened before the first request
PARAMETER = re.compile(r"^// \$(\w+)\s+(.+)$", re.MULTILINE)
SAMPLE_ID = "warming-up"  # no node has this id

log = structlog.get_logger("warmup")


class WarmUpState:
    """How far the warm-up of a process is."""

    def __init__(self) -> None:
        self.planned: list[str] = []  # names of statements
        self.failed: list[str] = []  # names of statements
        self.done = False

    def check(self) -> Check:
        if not self.done:
            return Check(False, "The model and the statements are still being prepared.")
        return Check(True, f"The model is loaded and {len(self.planned)} statements are planned.")


async def warm_up(
    graph: Graph, embedder: Embedder, state: WarmUpState, statements: Sequence[str] = HOT_STATEMENTS
) -> None:
    """Load the model, open connections, and run each statement on ids that do not exist.

    A statement that fails is logged and does not keep the process from serving.
    """
    await asyncio.gather(
        load_model(embedder), *(graph.read("store/setup/ping") for _ in range(CONNECTIONS))
    )
    limited = graph.with_limit(PLAN_SECONDS)
    for name in statements:
        try:
            await plan(limited, name, sample_parameters(name, embedder.dimensions))
        except Exception as error:  # the request that runs the statement reports it
            state.failed.append(name)
            log.warning("not_planned", statement=name, why=type(error).__name__)
        else:
            state.planned.append(name)
    state.done = True


async def load_model(embedder: Embedder) -> None:
    await embedder.embed(["ready"])
    await embedder.count_tokens(["ready"])
    await embedder.lexicon()


async def plan(graph: Graph, name: str, parameters: Mapping[str, Any]) -> None:
    """Run a statement in a transaction that is rolled back."""

    async def run(preview: Graph) -> None:
        await preview.read(name, **parameters)

    await graph.preview(run)


def sample_parameters(name: str, dimensions: int) -> dict[str, Any]:
    """A sample value for each parameter that the statement's header lists."""
    documented = PARAMETER.findall(cypher.statement(name))
    return {
        parameter: sample_value(description, dimensions) for parameter, description in documented
    }


def sample_value(description: str, dimensions: int) -> Any:
    """A value of the type that a parameter's description begins with."""
    if description.startswith("list of maps"):
        return [{}]
    if description.startswith("list"):
        return [SAMPLE_ID]
    samples: dict[str, Any] = {
        "string": SAMPLE_ID,
        "integer": 1,
        "float": 0.5,
        "boolean": False,
        "zoned datetime": datetime(2000, 1, 1, tzinfo=UTC),
        "vector": np.full(dimensions, 0.5, np.float32),
        "map": {},
    }
    return next(value for name, value in samples.items() if description.startswith(name))
