"""The persona as a run leaves it: how much it holds, how it is spread, how it feels."""

from typing import Any

from engine.models import Row
from engine.night.steps import ActiveRun


async def capture(run: ActiveRun) -> dict[str, Any]:
    memories = await run.graph.read("night/snapshot/count_memories", **run.whose)
    (feeling,) = await run.graph.read("night/snapshot/sum_feelings", **run.whose)
    waiting = await run.graph.read("night/snapshot/count_candidates", **run.whose)
    return snapshot(memories, feeling, waiting)


def snapshot(memories: list[Row], feeling: Row, waiting: list[Row]) -> dict[str, Any]:
    """Counts of groups, put together."""
    states: dict[str, dict[str, int]] = {}
    importance, salience = [0] * 10, [0] * 10
    for row in memories:
        of_state = states.setdefault(row["state"], {})
        of_state[row["memory_type"]] = of_state.get(row["memory_type"], 0) + row["memories"]
        if row["state"] == "active":
            importance[row["importance"] - 1] += row["memories"]
            salience[row["tenth"]] += row["memories"]
    for row in waiting:
        states.setdefault(row["state"], {})[row["memory_type"]] = row["candidates"]
    active = [row for row in memories if row["state"] == "active"]
    return {
        "states": states,
        "pinned": sum(row["memories"] for row in active if row["pinned"]),
        "minimized": sum(row["memories"] for row in active if row["minimized"]),
        "importance": importance,
        "salience": salience,
        "feeling": {
            "memories": feeling["felt"],
            "valence": mean(feeling["valence"], feeling["felt"]),
            "arousal": mean(feeling["arousal"], feeling["felt"]),
        },
    }


def mean(total: float, count: int) -> float | None:
    return round(total / count, 4) if count else None
