"""The API over the run's graph, and callers of every kind."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime

import httpx
import pytest

from api.app import create_app
from api.envelope import Door
from engine.graph import Graph
from engine.keys import issue_key
from engine.models import Role
from engine.settings import Settings

NewCaller = Callable[..., Awaitable[httpx.AsyncClient]]


@pytest.fixture(scope="session")
async def app(settings: Settings, graph: Graph) -> AsyncIterator[Door]:
    made = create_app(settings)
    opened, done = asyncio.Event(), asyncio.Event()

    async def live() -> None:  # a task of its own, since a lifespan must end where it began
        async with made.lifespan():
            opened.set()
            await done.wait()

    living = asyncio.create_task(live())
    await opened.wait()
    yield made
    done.set()
    await living


@pytest.fixture
async def stranger(app: Door) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody without a key."""
    async with a_client(app) as client:
        yield client


@pytest.fixture
async def new_caller(app: Door, graph: Graph) -> AsyncIterator[NewCaller]:
    """Makes callers of a tenant with a role."""
    opened: list[httpx.AsyncClient] = []

    async def make(
        tenant_id: str, role: Role = Role.ADMIN, user_id: str | None = None
    ) -> httpx.AsyncClient:
        issued = await issue_key(graph, tenant_id, name="test", role=role, now=datetime.now(UTC))
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


def a_client(app: Door, api_key: str | None = None) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app, raise_app_exceptions=False),
        base_url="http://pentimento.test",
        headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
    )
