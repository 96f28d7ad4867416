"""A stack of a benchmark's own: nothing that runs beside it is touched, and nothing stays."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.settings import Settings
from ops.demo import prepare_demo
from ops.stack import Home, Stack, stack_of


@contextmanager
def private_stack(folder: Path) -> Iterator[tuple[Stack, Settings, str]]:
    """A running stack, the settings to reach its graph, and an admin key of its demo tenant."""
    settings = Settings()
    home = Home(folder)
    for part in ("neo4j", "models"):
        (home.folder / part).symlink_to(settings.home.resolve() / part)
    with stack_of(home, settings) as stack:
        inside = stack.inside(settings)
        yield stack, inside, asyncio.run(prepare_demo(inside, None))
