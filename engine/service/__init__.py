"""What a process needs around the domain: clock, logs, jobs, readiness, warm-up, index repair.

Used by the API, the tasks and the command; no other room depends on it.
"""

from engine.service.clock import Clock, MovableClock, open_clock
from engine.service.index_repair import repair_indexes
from engine.service.jobs import Jobs
from engine.service.logs import set_up_logs
from engine.service.readiness import Readiness, check_readiness
from engine.service.warmup import WarmUpState, warm_up

__all__ = [
    "Clock",
    "Jobs",
    "MovableClock",
    "Readiness",
    "WarmUpState",
    "check_readiness",
    "open_clock",
    "repair_indexes",
    "set_up_logs",
    "warm_up",
]
