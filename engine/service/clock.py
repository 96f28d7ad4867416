"""The engine's clock: the real time, or a time that an admin has set."""

from datetime import UTC, datetime, timedelta

from engine.errors import Invalid
from engine.settings import Settings
from engine.store import Graph

MAX_OFFSET = timedelta(days=100 * 366)


class Clock:
    """The real time."""

    async def now(self) -> datetime:
        return datetime.now(UTC)


class MovableClock(Clock):
    """A clock that is ahead of the real time, or behind it, by an offset kept in the graph.

    In the graph, so that every process has the same time. Keys and leases follow real time.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def now(self) -> datetime:
        rows = await self._graph.read("service/clock/read_clock")
        offset = timedelta(seconds=rows[0]["ahead_seconds"]) if rows else timedelta()
        return datetime.now(UTC) + offset

    async def move(self, to: datetime | None) -> datetime:
        """Set the engine's time, from which it runs on; None sets it to the real time."""
        offset = to - datetime.now(UTC) if to else timedelta()
        if abs(offset) > MAX_OFFSET:
            raise Invalid("The clock can be moved by a hundred years at most.")
        await self._graph.write("service/clock/move_clock", ahead_seconds=offset.total_seconds())
        return await self.now()


def open_clock(settings: Settings, graph: Graph) -> Clock:
    """The clock that the settings choose."""
    return MovableClock(graph) if settings.clock == "movable" else Clock()
