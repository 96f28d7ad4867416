"""Bounds in seconds, on a machine that may be busy or stand still for a moment."""

import time
from collections.abc import Awaitable, Callable

TRIES = 3


async def least_seconds(work: Callable[[], Awaitable[object]], bound: float) -> float:
    """The least time that work takes in a few tries; the first one within the bound ends them.

    What is slow for a reason is slow each time.
    """
    least = float("inf")
    for _ in range(TRIES):
        started = time.monotonic()
        await work()
        least = min(least, time.monotonic() - started)
        if least < bound:
            break
    return least
