"""The persona as a run leaves it: how much it holds, how it is spread, how it feels."""

from typing import Any

from engine.graph import Row
from engine.night.steps import RunInHand


async def capture(run: RunInHand) -> dict[str, Any]:
    memories = await run.graph.read("capture/count", **run.whose)
    waiting = await run.graph.read("capture/count_waiting", **run.whose)
    return snapshot(memories, waiting)


def snapshot(memories: list[Row], waiting: list[Row]) -> dict[str, Any]:
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
    felt = sum(row["felt"] for row in active)
    return {
        "states": states,
        "pinned": sum(row["pinned"] for row in active),
        "minimized": sum(row["minimized"] for row in active),
        "importance": importance,
        "salience": salience,
        "feeling": {
            "memories": felt,
            "valence": mean(sum(row["valence"] for row in active), felt),
            "arousal": mean(sum(row["arousal"] for row in active), felt),
        },
    }


def mean(total: float, count: int) -> float | None:
    return round(total / count, 4) if count else None
