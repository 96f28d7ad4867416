"""How many requests a caller may make, counted by two processes together."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx
import pytest
from prometheus_client import REGISTRY
from redis.asyncio import Redis

from api.app import create_app
from api.application import Application
from engine.access.limits import REDIS_PREFIX, RateLimiter, bucket
from engine.access.models import Caller, Role
from engine.errors import TooManyRequests
from engine.settings import Settings
from engine.store.broker import open_broker
from engine.store.graph import Graph
from tests.api.conftest import NewCaller, a_client, a_token

LIMITS = {Role.RUNTIME: 5, Role.ADMIN: 1000, Role.ANALYST: 3, Role.USER: 4}


@contextlib.asynccontextmanager
async def limited(settings: Settings) -> AsyncIterator[list[Application]]:
    """Two processes with small limits."""
    small = {"rate_limits": "on", **{f"rate_limit_{role}": n for role, n in LIMITS.items()}}
    apps = [create_app(settings.model_copy(update=small)) for _ in range(2)]
    async with apps[0].lifespan(), apps[1].lifespan():
        yield apps


@pytest.fixture
async def redis(settings: Settings) -> AsyncIterator[Redis]:
    opened = open_broker(settings)
    yield opened
    await opened.aclose()


def key_of(client: httpx.AsyncClient) -> str:
    return client.headers["Authorization"].removeprefix("Bearer ")


@pytest.mark.spec("SEC-05")
async def test_a_key_is_limited_in_all_processes_together(
    settings: Settings, new_caller: NewCaller, tenant_id: str
) -> None:
    async with limited(settings) as apps:
        one, another = [await new_caller(tenant_id, Role.RUNTIME) for _ in range(2)]
        answers = []

        for turn in range(8):
            async with a_client(apps[turn % 2], key_of(one)) as client:
                answers.append(await client.get("/api/personas"))

        assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 3
        for answer in answers:
            assert answer.headers["RateLimit-Policy"] == '"runtime";q=5;w=60'
        left = [
            int(re.fullmatch(r'"runtime";r=(\d+);t=\d+', answer.headers["RateLimit"])[1])  # type: ignore[index]
            for answer in answers
        ]
        assert left == [4, 3, 2, 1, 0, 0, 0, 0]
        refused = answers[-1]
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        assert refused.headers["Content-Type"] == "application/problem+json"
        assert refused.json()["type"] == "urn:pentimento:too-many-requests"
        async with a_client(apps[0], key_of(another)) as client:
            assert (await client.get("/api/personas")).status_code == 200


async def test_a_person_is_limited_whatever_token_they_come_with(
    settings: Settings, graph: Graph, tenant_id: str
) -> None:
    async with limited(settings) as apps:
        statuses = []
        for _ in range(3):
            async with a_client(apps[0], await a_token(graph, tenant_id, "sam")) as sam:
                statuses += [(await sam.get("/api/personas")).status_code for _ in range(2)]
        async with a_client(apps[0], await a_token(graph, tenant_id, "mia")) as mia:
            statuses.append((await mia.get("/api/personas")).status_code)

        assert statuses == [200] * 4 + [429] * 2 + [200]


async def test_what_machines_ask_for_is_not_limited(
    settings: Settings, new_caller: NewCaller, tenant_id: str
) -> None:
    async with limited(settings) as apps:
        key = key_of(await new_caller(tenant_id, Role.ANALYST))

        async with a_client(apps[0], key) as client:
            for path in ("/api/health", "/api/ready", "/metrics"):
                answers = [await client.get(path) for _ in range(5)]
                assert 429 not in {answer.status_code for answer in answers}
                assert "RateLimit" not in answers[0].headers


async def test_limits_can_be_turned_off(app: Application, admin: httpx.AsyncClient) -> None:
    answer = await admin.get("/api/personas")

    assert "RateLimit" not in answer.headers


async def test_every_route_that_wants_a_key_documents_429(app: Application) -> None:
    for path, item in app.openapi_schema.to_schema()["paths"].items():
        for method, operation in item.items():
            if path not in ("/api/health", "/api/ready"):
                assert "429" in operation["responses"], (method, path)


async def test_the_limit_is_whole_again_when_the_minute_is_over(
    redis: Redis, new_tenant: Callable[[], Awaitable[str]]
) -> None:
    time = 0.0
    caller = Caller(await new_tenant(), "key", Role.RUNTIME)
    limiter = RateLimiter(redis, LIMITS, timer=lambda: time, timeout_seconds=60)
    for _ in range(5):
        await limiter.take(caller)
    with pytest.raises(TooManyRequests):
        await limiter.take(caller)

    await redis.delete(f"{REDIS_PREFIX}{bucket(caller)}")  # as Redis does by itself, a minute later
    with pytest.raises(TooManyRequests):
        await limiter.take(caller)
    time = 61.0

    allowance = await limiter.take(caller)
    assert allowance
    assert allowance.remaining == 4


async def test_many_at_once_get_no_more_than_the_limit_and_ask_redis_seldom(
    redis: Redis, new_tenant: Callable[[], Awaitable[str]]
) -> None:
    caller = Caller(await new_tenant(), "key", Role.ADMIN)
    processes = [RateLimiter(redis, LIMITS, timeout_seconds=60) for _ in range(3)]
    asked = 0
    for limiter in processes:
        original = limiter._renew

        async def counted(*given: object, original: object = original) -> None:
            nonlocal asked
            asked += 1
            await original(*given)  # type: ignore[operator]

        limiter._renew = counted  # type: ignore[assignment, method-assign]

    answers = await asyncio.gather(
        *(processes[n % 3].take(caller) for n in range(1200)), return_exceptions=True
    )

    refused = [answer for answer in answers if isinstance(answer, TooManyRequests)]
    assert len(answers) - len(refused) <= 1000
    assert len(refused) <= 200 + 3 * 10  # what a process did not use of its part is lost
    assert asked <= 110


async def test_when_redis_is_away_requests_are_let_through_and_counted(
    settings: Settings, new_tenant: Callable[[], Awaitable[str]]
) -> None:
    nowhere = open_broker(settings.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"}))
    limiter = RateLimiter(nowhere, LIMITS)
    caller = Caller(await new_tenant(), "key", Role.ANALYST)
    name = "pentimento_rate_limit_unavailable_total"
    before = REGISTRY.get_sample_value(name) or 0.0

    assert [await limiter.take(caller) for _ in range(20)] == [None] * 20
    assert (REGISTRY.get_sample_value(name) or 0.0) > before
    await nowhere.aclose()
