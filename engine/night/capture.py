"""The snapshot of a persona at the end of a run: counts of its memories, and its mean feeling."""

from typing import Any

from engine.models import Row
from engine.night.steps import ActiveRun


async def capture(run: ActiveRun) -> dict[str, Any]:
    """The snapshot of the run's persona as it is now."""
    memory_groups = await run.graph.read("night/snapshot/count_memories", **run.persona_parameters)
    (feeling,) = await run.graph.read("night/snapshot/sum_feelings", **run.persona_parameters)
    candidate_groups = await run.graph.read(
        "night/snapshot/count_candidates", **run.persona_parameters
    )
    return build_snapshot(memory_groups, feeling, candidate_groups)


def build_snapshot(
    memory_groups: list[Row], feeling: Row, candidate_groups: list[Row]
) -> dict[str, Any]:
    """A snapshot from counts of groups of memories and candidates; see `ledger.Snapshot`."""
    states: dict[str, dict[str, int]] = {}
    importance, salience = [0] * 10, [0] * 10
    for group in memory_groups:
        counts = states.setdefault(group["state"], {})
        counts[group["memory_type"]] = counts.get(group["memory_type"], 0) + group["memories"]
        if group["state"] == "active":
            importance[group["importance"] - 1] += group["memories"]
            salience[group["tenth"]] += group["memories"]
    for group in candidate_groups:
        states.setdefault(group["state"], {})[group["memory_type"]] = group["candidates"]
    active_groups = [group for group in memory_groups if group["state"] == "active"]
    return {
        "states": states,
        "pinned": sum(group["memories"] for group in active_groups if group["pinned"]),
        "minimized": sum(group["memories"] for group in active_groups if group["minimized"]),
        "importance": importance,
        "salience": salience,
        "feeling": {
            "memories": feeling["felt"],
            "valence": mean(feeling["valence"], feeling["felt"]),
            "arousal": mean(feeling["arousal"], feeling["felt"]),
        },
    }


def mean(total: float, count: int) -> float | None:
    """The mean, rounded; None of nothing."""
    return round(total / count, 4) if count else None
