"""Finds what holds the event loop: each step of a request is measured, and the long ones are kept.

Measured is processor time of the loop's thread, not time on the wall: a busy machine makes no step
longer. So waiting that holds the loop (a sleep, a socket) is not seen here; lint forbids it.
"""

import asyncio
import gc
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

LIMIT = 0.05  # seconds a step may take
SAMPLE = 0.005  # seconds of processor time between two looks at where the loop is

_request: ContextVar[str | None] = ContextVar("watched_request", default=None)


@dataclass
class Block:
    """One step of a request that held the loop."""

    request: str
    seconds: float
    stacks: Counter[str]

    def __str__(self) -> str:
        seen = "\n".join(f"  {count} x {stack}" for stack, count in self.stacks.most_common(3))
        return f"{self.request} held the loop for {1000 * self.seconds:.0f} ms\n{seen}"


@dataclass
class Watchdog:
    """The steps that took longer than the limit, and the longest of each request."""

    limit: float = LIMIT
    blocks: list[Block] = field(default_factory=list)
    longest: dict[str, float] = field(default_factory=dict)

    def note(self, request: str, seconds: float, stacks: Counter[str]) -> None:
        self.longest[request] = max(seconds, self.longest.get(request, 0.0))
        if seconds > self.limit:
            self.blocks.append(Block(request, seconds, stacks))

    def clear(self) -> None:
        self.blocks.clear()
        self.longest.clear()

    def report(self) -> str:
        return "\n".join(map(str, self.blocks))


class Watched:
    """An ASGI application whose requests run as tasks of their own, which a watchdog can tell."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        context = copy_context()
        context.run(_request.set, f"{scope.get('method', scope['type'])} {scope.get('path', '')}")
        await asyncio.get_running_loop().create_task(
            self.app(scope, receive, send), context=context
        )


@contextmanager
def watching(limit: float = LIMIT) -> Iterator[Watchdog]:
    """Measure every step of watched requests on the loops of this thread, the main one."""
    dog, step = Watchdog(limit), _Step()
    run: Callable[[asyncio.Handle], None] = asyncio.Handle._run
    thread = threading.get_ident()

    def measured(handle: asyncio.Handle) -> None:
        request = handle._context.get(_request)  # type: ignore[attr-defined]
        if request is None or threading.get_ident() != thread:
            run(handle)
            return
        step.begin()
        try:
            run(handle)
        finally:
            seconds, stacks = step.end()
            dog.note(request, seconds, stacks)

    gc.collect()
    gc.freeze()  # a collection looks at what requests made, and not at all that the tests hold
    before = signal.signal(signal.SIGPROF, step.sample)
    signal.setitimer(signal.ITIMER_PROF, SAMPLE, SAMPLE)
    asyncio.Handle._run = measured  # type: ignore[method-assign, assignment]
    try:
        yield dog
    finally:
        asyncio.Handle._run = run  # type: ignore[method-assign, assignment]
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        gc.unfreeze()


class _Step:
    """The step that is being run, and where it was seen."""

    def __init__(self) -> None:
        self.started: float | None = None
        self.stacks: Counter[str] = Counter()

    def begin(self) -> None:
        self.stacks = Counter()
        self.started = time.thread_time()

    def end(self) -> tuple[float, Counter[str]]:
        started, self.started = self.started, None
        return time.thread_time() - (started or 0.0), self.stacks

    def sample(self, _: int, frame: FrameType | None) -> None:
        """Called by a signal, since only the main thread may walk its frames while it runs."""
        if self.started is not None and frame:
            self.stacks[place_of(frame)] += 1


def place_of(frame: FrameType) -> str:
    """The innermost frame, and the innermost three of ours, as one line."""
    frames: list[FrameType] = [frame]
    while frame.f_back and len(frames) < 40:
        frame = frame.f_back
        frames.append(frame)
    ours = [frame for frame in frames if "site-packages" not in frame.f_code.co_filename]
    shown = [*reversed(ours[:3]), frames[0]]
    return " > ".join(dict.fromkeys(map(line_of, shown)))


def line_of(frame: FrameType) -> str:
    file = frame.f_code.co_filename.rpartition("/")[2]
    return f"{file}:{frame.f_lineno} {frame.f_code.co_name}"
