"""The wiring: what is opened at start, injected into routes, and closed at the end."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import structlog
from litestar import Litestar, Request, Router
from litestar.config.cors import CORSConfig
from litestar.di import NamedDependency, Provide
from litestar.middleware import DefineMiddleware
from litestar.plugins.prometheus import PrometheusConfig, PrometheusController

from api.application import BOOKMARK, PERSONA_HEADER, REQUEST_ID, Application, check_bookmark
from api.audit import AuditController
from api.auth import TENANT_HEADER, USER_HEADER, Authentication
from api.candidates import CandidateController
from api.clock import ClockController
from api.compression import GzipMiddleware
from api.contract import ContractController
from api.conversations import ConversationController
from api.document import complete_document, openapi_config
from api.errors import HANDLERS
from api.flags import FlagController
from api.health import HealthController
from api.instances import InstanceController
from api.keys import KeyController
from api.links import LinkController
from api.manager import ManagerController
from api.memories import MemoryController
from api.personas import PersonaController
from api.policy import PolicyController
from api.recall import RecallController
from api.recalls import RecallRecordController
from api.runs import RunController
from api.shadow import ShadowController
from api.shapes import ShapeController
from api.strict_json import StrictRequest
from api.tokens import TokenController
from engine.access import Caller, JwtVerifier, KeyRing, open_limiter
from engine.embedding import Embedder, claim_model, open_embedder
from engine.errors import EngineError, Unavailable
from engine.forgetting import open_acknowledger
from engine.policy import set_deployment_policy
from engine.recall import Recall, UseLog, open_reranker
from engine.service import (
    Clock,
    Jobs,
    WarmUpState,
    open_clock,
    repair_indexes,
    set_up_logs,
    warm_up,
)
from engine.settings import Settings
from engine.store import Graph, migrate, open_broker
from engine.talk import DeviceNotifier

CONTROLLERS: list[Any] = [
    HealthController,
    PersonaController,
    InstanceController,
    KeyController,
    TokenController,
    ConversationController,
    CandidateController,
    FlagController,
    MemoryController,
    LinkController,
    RecallRecordController,
    ShapeController,
    ContractController,
    AuditController,
    RecallController,
    RunController,
    ShadowController,
    ManagerController,
    PolicyController,
]
MEGABYTE = 2**20
PREPARE_RETRY_SECONDS = 1.0  # while Neo4j is away
CORS_REQUEST_HEADERS = [
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    BOOKMARK,
    PERSONA_HEADER,
    REQUEST_ID,
    TENANT_HEADER,
    USER_HEADER,
]
CORS_RESPONSE_HEADERS = [  # that a page's script may read
    "Content-Disposition",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    BOOKMARK,
    REQUEST_ID,
]
CORS_MAX_AGE = 600  # seconds a browser may keep the answer to a preflight

log = structlog.get_logger("api")


def create_app(settings: Settings | None = None) -> Application:
    """The whole API over one graph and one broker. Nothing is connected before it starts."""
    settings = settings or Settings()
    set_up_logs(settings)

    # What is opened
    graph = Graph.open(settings)
    redis = open_broker(settings)
    notifier = DeviceNotifier(redis)
    # Several threads answer one question sooner, and many at once later: they wait for each other.
    embedder = open_embedder(settings, threads=1)
    jwts = JwtVerifier(
        graph,
        seconds=settings.key_cache_seconds,
        private_hosts=settings.jwks_private_hosts,
    )
    keys = KeyRing(graph, seconds=settings.key_cache_seconds, jwts=jwts)
    limiter = open_limiter(settings, redis)
    jobs = Jobs(settings)
    warm_up_state = WarmUpState()
    recall = Recall(
        graph,
        embedder,
        seconds=settings.persona_cache_seconds,
        profile=settings.recall_profile,
        hot_bytes=settings.hot_megabytes * MEGABYTE,
        graph_searches=settings.graph_searches,
        reranker=open_reranker(settings),
    )

    # What runs from start to stop
    @contextlib.asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        app.state.key_ring = keys
        app.state.limiter = limiter
        preparing = asyncio.create_task(prepare(graph, embedder, settings, warm_up_state))
        try:
            yield
        finally:
            preparing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await preparing
            await recall.close()
            embedder.close()
            jobs.close()
            await notifier.close()
            await redis.aclose()
            await graph.close()

    # What routes can ask for by name
    shared: dict[str, Any] = {
        "settings": settings,
        "graph": graph,
        "redis": redis,
        "notifier": notifier,
        "embedder": embedder,
        "keys": keys,
        "acknowledger": open_acknowledger(settings),
        "use_log": UseLog(redis),
        "warm_up": warm_up_state,
        "recall": recall,
        "jobs": jobs,
        "clock": open_clock(settings, graph),
    }
    dependencies = {
        **{name: provide_shared(value) for name, value in shared.items()},
        "caller": Provide(provide_caller, sync_to_thread=False),
        "now": Provide(provide_now),
    }

    # The application
    controllers = [*CONTROLLERS, *([ClockController] if settings.clock == "movable" else [])]
    metrics = PrometheusConfig(app_name="pentimento", prefix="pentimento", group_path=True)
    app = Application(
        route_handlers=[Router("/api", route_handlers=controllers), MetricsController],
        lifespan=[lifespan],
        dependencies=dependencies,
        middleware=[
            GzipMiddleware(),
            metrics.middleware,
            DefineMiddleware(Authentication, exclude="^/schema", exclude_from_auth_key="open"),
        ],
        exception_handlers=HANDLERS,  # type: ignore[arg-type]
        request_class=StrictRequest,
        before_request=check_bookmark,
        logging_config=None,  # set_up_logs has done it
        request_max_body_size=settings.max_body_bytes,
        cors_config=cors_config(settings),
        openapi_config=openapi_config(),
    )
    complete_document(app)
    app.answer_seconds = settings.answer_seconds
    return app


def cors_config(settings: Settings) -> CORSConfig | None:
    """Which pages of other origins may call the API from a browser; None for no page.

    Credentials are not allowed: a caller sends its token in a header, never in a cookie.
    """
    if not settings.cors_origin_list:
        return None
    return CORSConfig(
        allow_origins=settings.cors_origin_list,
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=CORS_REQUEST_HEADERS,
        expose_headers=CORS_RESPONSE_HEADERS,
        max_age=CORS_MAX_AGE,
    )


class MetricsController(PrometheusController):
    opt = {"open": True}  # noqa: RUF012
    include_in_schema = False


def provide_shared(value: Any) -> Provide:
    """A dependency that is the same object for all requests."""
    return Provide(lambda: value, use_cache=True, sync_to_thread=False)


def provide_caller(request: Request[Caller, Any, Any]) -> Caller:
    return request.user


async def provide_now(clock: NamedDependency[Clock]) -> datetime:
    """The engine's time at the start of the request."""
    return await clock.now()


async def prepare(
    graph: Graph, embedder: Embedder, settings: Settings, warm_up_state: WarmUpState
) -> None:
    """Migrate the graph and warm up. Retries until Neo4j answers, however long that takes."""
    while True:
        try:
            applied = await migrate(graph)
            if repaired := await repair_indexes(graph):
                log.warning("failed_indexes_made_again", indexes=repaired)
            await claim_model(graph, embedder, analyzer=settings.full_text_analyzer)
            await set_deployment_policy(graph, settings)
            await warm_up(graph, embedder, warm_up_state)
        except Unavailable as error:
            log.warning("graph_not_ready", why=str(error))
            await asyncio.sleep(PREPARE_RETRY_SECONDS)
        except EngineError as error:
            log.error("graph_refused", why=str(error))
            return
        else:
            log.info("graph_ready", applied=applied)
            return
