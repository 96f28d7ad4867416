"""What the commands share: printing, failing, and finding the stack of the current folder."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NoReturn, TypeVar

import typer
from rich.console import Console

from engine.errors import EngineError
from engine.settings import Settings
from engine.store import Graph
from ops.home import Home, Stack

T = TypeVar("T")

console = Console(highlight=False)
errors = Console(highlight=False, stderr=True)


def current_home() -> tuple[Home, Settings]:
    settings = Settings()
    return Home(settings.home), settings


def running_settings() -> Settings:
    """The settings of the stack that runs here; without one, those of the environment."""
    home, settings = current_home()
    running = home.running()
    return running.settings_for(settings) if running else settings


def running_stack(home: Home) -> Stack:
    """The stack that runs here; without one the command ends."""
    stack = home.running()
    if stack is None:
        fail("Not running. Start it with `make up` or `pentimento up`.")
    return stack


def with_graph(work: Callable[[Graph, Settings], Awaitable[T]]) -> T:
    """Run `work` on an open graph. An error of the engine ends the command with its sentence."""
    settings = running_settings()

    async def run() -> T:
        graph = Graph.open(settings)
        try:
            return await work(graph, settings)
        finally:
            await graph.close()

    try:
        return asyncio.run(run())
    except EngineError as error:
        fail(str(error))


def fail(reason: str) -> NoReturn:
    """End the command with one line on stderr and exit code 1."""
    errors.print(reason, style="red", markup=False, soft_wrap=True)
    raise typer.Exit(1)


def own_path() -> str:
    """This command as it can be typed in the current folder."""
    path = Path(sys.argv[0]).absolute()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
