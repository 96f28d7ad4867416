"""/api/health and /api/ready: for orchestrators, without a key"""

from dataclasses import dataclass

from litestar import Controller, Response, get
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from redis.asyncio import Redis

from engine.embedding import Embedder
from engine.service import Readiness, WarmUpState, check_readiness
from engine.store import Graph
from engine.version import VERSION


@dataclass(frozen=True, slots=True)
class Health:
    """The process answers. Says nothing about the graph or the broker."""

    status: str
    version: str


class HealthController(Controller):
    tags = ("health",)
    opt = {"open": True}  # noqa: RUF012  no key is needed
    security = ({},)

    @get("/health", operation_id="health", summary="Check that the process is alive")
    async def health(self) -> Health:
        """Whether the process is alive. Asks neither the graph nor the broker."""
        return Health("alive", VERSION)

    @get(
        "/ready",
        operation_id="ready",
        summary="Check that requests can be served",
        responses={503: ResponseSpec(Readiness, description="Not ready")},
    )
    async def ready(
        self,
        graph: NamedDependency[Graph],
        redis: NamedDependency[Redis],
        embedder: NamedDependency[Embedder],
        warm_up: NamedDependency[WarmUpState],
    ) -> Response[Readiness]:
        """Whether requests can be served now, with a check of each part."""
        readiness = await check_readiness(graph, redis, embedder, warm_up.check())
        return Response(readiness, status_code=200 if readiness.ready else 503)
