"""The API over the run's graph, and callers of every kind."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from api.app import create_app
from api.application import Application
from engine.access.keys import issue_key
from engine.access.models import Caller, Role
from engine.access.tokens import issue_token
from engine.service.clock import MovableClock
from engine.settings import Settings
from engine.store.graph import Graph
from tests.watchdog import Watched

NewCaller = Callable[..., Awaitable[httpx.AsyncClient]]


@pytest.fixture(scope="session")
async def app(settings: Settings, graph: Graph) -> AsyncIterator[Application]:
    async with living(create_app(settings)) as made:
        yield made


@contextlib.asynccontextmanager
async def living(made: Application) -> AsyncIterator[Application]:
    """An application, opened and in the end closed."""
    opened, done = asyncio.Event(), asyncio.Event()

    async def live() -> None:  # a task of its own, since a lifespan must end where it began
        async with made.lifespan():
            opened.set()
            await done.wait()

    living = asyncio.create_task(live())
    await opened.wait()
    async with a_client(made) as client:  # nobody is served before a process says that it is ready
        for _ in range(200):
            if (await client.get("/api/ready")).json()["checks"]["warm"]["ok"]:
                break
            await asyncio.sleep(0.3)
    yield made
    done.set()
    await living


@pytest.fixture(autouse=True)
async def clock_is_right(graph: Graph, request: pytest.FixtureRequest) -> AsyncIterator[None]:
    """Fails a test that moves the clock without the fixture that gives it back."""
    yield
    ahead = abs(await MovableClock(graph).now() - datetime.now(UTC))
    assert ahead < timedelta(minutes=1) or "clock" in request.fixturenames


@pytest.fixture
async def stranger(app: Application) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody without a key."""
    async with a_client(app) as client:
        yield client


@pytest.fixture
async def new_caller(app: Application, graph: Graph) -> AsyncIterator[NewCaller]:
    """Makes callers of a tenant: by a key, for a user if one is named; a user by a token."""
    opened: list[httpx.AsyncClient] = []

    async def make(
        tenant_id: str, role: Role = Role.ADMIN, user_id: str | None = None
    ) -> httpx.AsyncClient:
        if role is Role.USER:
            client = a_client(app, await a_token(graph, tenant_id, user_id or "sam"))
        else:
            now = datetime.now(UTC)
            issued = await issue_key(graph, tenant_id, name="test", role=role, now=now)
            client = a_client(app, issued.api_key)
            if user_id:
                client.headers["X-User-Id"] = user_id
        opened.append(client)
        return client

    yield make
    for client in opened:
        await client.aclose()


@pytest.fixture
async def admin(new_caller: NewCaller, tenant_id: str) -> httpx.AsyncClient:
    return await new_caller(tenant_id)


async def a_token(
    graph: Graph, tenant_id: str, user_id: str, *, instance_ids: list[str] | None = None
) -> str:
    """A token of a user, made by a runtime key of its own."""
    now = datetime.now(UTC)
    issued = await issue_key(graph, tenant_id, name="chat", role=Role.RUNTIME, now=now)
    key = Caller(tenant_id, issued.key.id, Role.RUNTIME)
    token = await issue_token(
        graph, key, user_id=user_id, instance_ids=instance_ids, minutes=60, now=now
    )
    return token.token


def a_client(app: Application | Watched, api_key: str | None = None) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app, raise_app_exceptions=False),
        base_url="http://pentimento.test",
        headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
    )
