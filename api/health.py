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
    """The process answers; nothing is said of what it stands on."""

    status: str
    version: str


class HealthController(Controller):
    tags = ("health",)
    opt = {"open": True}  # noqa: RUF012  Litestar's own way of saying it
    security = ({},)

    @get("/health", operation_id="health")
    async def health(self) -> Health:
        """Alive."""
        return Health("alive", VERSION)

    @get(
        "/ready",
        operation_id="ready",
        responses={503: ResponseSpec(Readiness, description="Not ready")},
    )
    async def ready(
        self,
        graph: NamedDependency[Graph],
        redis: NamedDependency[Redis],
        embedder: NamedDependency[Embedder],
        warmth: NamedDependency[WarmUpState],
    ) -> Response[Readiness]:
        """Whether work can be done right now, part by part."""
        readiness = await check_readiness(graph, redis, embedder, warmth.check())
        return Response(readiness, status_code=200 if readiness.ready else 503)
