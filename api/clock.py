"""/api/clock, which exists only with PENTIMENTO_CLOCK=movable"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from litestar import Controller, get, put
from litestar.di import NamedDependency

from api.auth import ADMINS
from api.bodies import ClockSetting, body_example
from api.errors import problems
from api.parameters import in_utc
from engine.service import Clock, MovableClock
from engine.store import Graph


@dataclass(frozen=True, slots=True)
class ClockReading:
    """The engine's time."""

    now: datetime


class ClockController(Controller):
    path = "/clock"
    tags = ("clock",)

    @get(operation_id="read_clock", responses=problems())
    async def read(self, clock: NamedDependency[Clock]) -> ClockReading:
        """Get the engine's time."""
        return ClockReading(await clock.now())

    @put(operation_id="move_clock", guards=[ADMINS], responses=problems(413))
    async def move(
        self,
        data: Annotated[ClockSetting, body_example(now="2027-01-01T03:00:00Z")],
        graph: NamedDependency[Graph],
    ) -> ClockReading:
        """Set the engine's time; it runs on from there. `null` returns to the real time."""
        return ClockReading(await MovableClock(graph).move(in_utc(data.now)))
