"""The API with a clock that only this test moves, and an encoder that knows words alone."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime

import pytest

from api.app import create_app
from api.application import Application
from engine.embedding import Embedder, open_embedder
from engine.service.clock import Clock
from engine.settings import Settings
from engine.store.graph import Graph
from tests.api.conftest import NewCaller, living, new_caller
from tests.lives import DIMENSIONS, WordEncoder

pytest.register_assert_rewrite("tests.model.world")

from tests.model.world import World  # noqa: E402  (its assertions tell what differs)

__all__ = ["new_caller"]

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)

# Seconds: a busy machine plans its first statements slowly, and that is not what is tested here.
PATIENCE = 120.0

NewWorld = Callable[..., Awaitable[World]]


class OwnClock(Clock):
    """Stands still until the test moves it. No other test of the same database sees it."""

    def __init__(self) -> None:
        self.time = NOON

    async def now(self) -> datetime:
        return self.time


@pytest.fixture(scope="module")
def own_clock() -> OwnClock:
    return OwnClock()


@pytest.fixture(scope="module")
async def app(settings: Settings, graph: Graph, own_clock: OwnClock) -> AsyncIterator[Application]:
    """The whole API; only what time it is and what words mean are the test's own."""
    model = open_embedder(settings).model
    words = Embedder(WordEncoder, model=model, dimensions=DIMENSIONS, cache=1000)
    patient = Graph.open(settings).with_limit(PATIENCE)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Graph, "open", lambda settings: patient)
        patched.setattr("api.app.open_clock", lambda settings, graph: own_clock)
        patched.setattr("api.app.open_embedder", lambda settings, **_: words)
        made = create_app(settings)
    async with living(made) as opened:
        yield opened


@pytest.fixture
def new_world(graph: Graph, own_clock: OwnClock, new_caller: NewCaller) -> NewWorld:
    """Makes tenants in which two personas of different time zones speak with several people."""

    async def make(tenant_id: str, eve_lives_in: str = "America/New_York") -> World:
        return await World(graph, own_clock, new_caller, tenant_id).begin(
            at=NOON,
            personas={"ada": "UTC", "eve": eve_lives_in},
            instances={
                "studio": {"sam": "member", "kim": "member", "ines": "admin"},
                "attic": {"kim": "member", "otto": "member"},
            },
            conversations={
                "monday": ("studio", ["ada"]),
                "round": ("studio", ["ada", "eve"]),
                "loft": ("attic", ["eve"]),
            },
        )

    return make


@pytest.fixture
async def world(new_world: NewWorld, tenant_id: str) -> World:
    return await new_world(tenant_id)
