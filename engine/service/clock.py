"""What time it is for the engine: the real time, or one that an admin has moved."""

from datetime import UTC, datetime, timedelta

from engine.errors import Invalid
from engine.settings import Settings
from engine.store import Graph

FARTHEST = timedelta(days=100 * 366)


class Clock:
    """The real time."""

    async def now(self) -> datetime:
        return datetime.now(UTC)


class MovableClock(Clock):
    """Kept in the graph, so that every process of the engine lives at the same time.

    It runs on from where it was set. Keys and leases are not its business: they follow real time.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def now(self) -> datetime:
        moved = await self._graph.read("service/clock/read_clock")
        ahead = timedelta(seconds=moved[0]["ahead_seconds"]) if moved else timedelta()
        return datetime.now(UTC) + ahead

    async def move(self, to: datetime | None) -> datetime:
        """Set the engine's time, or with None give it back to the real one."""
        ahead = to - datetime.now(UTC) if to else timedelta()
        if abs(ahead) > FARTHEST:
            raise Invalid("The clock can be moved by a hundred years at most.")
        await self._graph.write("service/clock/move_clock", ahead_seconds=ahead.total_seconds())
        return await self.now()


def open_clock(settings: Settings, graph: Graph) -> Clock:
    return MovableClock(graph) if settings.clock == "movable" else Clock()
