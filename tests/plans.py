"""How Neo4j would run a statement, and what it read when it did, in the graph under test."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from neo4j import AsyncResult, ResultSummary

import cypher
from engine.models import Row
from engine.store import graph as graph_module
from engine.store.graph import Graph


async def explained(graph: Graph, name: str) -> ResultSummary:
    async with graph._driver.session(database=graph._database) as session:
        result = await session.run(
            graph_module.with_parameter_map(f"EXPLAIN {cypher.statement(name)}")
        )
        return await result.consume()


def parts(plan: dict[str, Any] | None) -> Iterator[tuple[str, str]]:
    """Every operator of a plan, with its details."""
    if plan:
        yield plan["operatorType"].partition("@")[0], str(plan["args"].get("Details", ""))
        for child in plan.get("children", []):
            yield from parts(child)


@dataclass
class Cost:
    """What a statement cost: the most expensive call, and all calls together."""

    hits: int = 0  # how often it read or wrote the store
    rows: int = 0  # of its widest operator
    total_hits: int = 0


class Costs(dict[str, Cost]):
    """What each statement cost, by its name."""

    def note(self, name: str, plan: Row) -> None:
        cost = self.setdefault(name, Cost())
        hits, rows = counted(plan)
        cost.hits, cost.rows = max(cost.hits, hits), max(cost.rows, rows)
        cost.total_hits += hits


def counted(plan: Row) -> tuple[int, int]:
    """Hits of a whole plan, and the rows of its widest operator."""
    inside = [counted(child) for child in plan.get("children", [])]
    return (
        plan.get("dbHits", 0) + sum(hits for hits, _ in inside),
        max([plan.get("rows", 0), *(rows for _, rows in inside)]),
    )


@contextmanager
def profiling() -> Iterator[Costs]:
    """Let Neo4j count what the engine's statements read."""
    costs, name_of = Costs(), dict[str, str]()
    statement, read_rows = cypher.statement, graph_module.read_rows

    def profiled(name: str) -> str:
        text = statement(name)
        if name.startswith(("store/", "embedding/", "service/index_repair/")):
            return text
        name_of[graph_module.with_parameter_map(f"PROFILE {text}")] = name
        return f"PROFILE {text}"

    async def counting(result: AsyncResult) -> list[Row]:
        rows = await read_rows(result)
        summary = await result.consume()
        if summary.profile and summary.query:
            costs.note(name_of[summary.query], summary.profile)
        return rows

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cypher, "statement", profiled)
        patched.setattr(graph_module, "read_rows", counting)
        yield costs
