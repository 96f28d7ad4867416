"""/api/clock, which exists only where the clock can be moved"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from litestar import Controller, get, put
from litestar.di import NamedDependency

from api.auth import ADMINS
from api.bodies import ClockSetting, in_utc, like
from api.errors import problems
from engine.service import Clock, MovableClock
from engine.store import Graph


@dataclass(frozen=True, slots=True)
class ClockReading:
    """What time it is for the engine."""

    now: datetime


class ClockController(Controller):
    path = "/clock"
    tags = ("clock",)

    @get(operation_id="read_clock", responses=problems())
    async def read(self, clock: NamedDependency[Clock]) -> ClockReading:
        """The engine's time."""
        return ClockReading(await clock.now())

    @put(operation_id="move_clock", guards=[ADMINS], responses=problems(413))
    async def move(
        self,
        data: Annotated[ClockSetting, in_utc, like(now="2027-01-01T03:00:00Z")],
        graph: NamedDependency[Graph],
    ) -> ClockReading:
        """Set the engine's time, from where it runs on; null gives it back to the real one."""
        return ClockReading(await MovableClock(graph).move(in_utc(data.now)))
