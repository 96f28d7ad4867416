"""The wiring: what is opened at start, handed to routes, and closed at the end."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import structlog
from litestar import Litestar, Request, Router
from litestar.di import Provide
from litestar.middleware import DefineMiddleware
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin, YamlRenderPlugin
from litestar.openapi.spec import (
    Components,
    License,
    OpenAPI,
    OpenAPIMediaType,
    OpenAPIType,
    Parameter,
    Schema,
    SecurityScheme,
)
from litestar.plugins.prometheus import PrometheusConfig, PrometheusController

from api.application import (
    BOOKMARK,
    GOOD_BOOKMARKS,
    LONGEST_BOOKMARKS,
    REQUEST_ID,
    Application,
    check_bookmark,
)
from api.auth import USER_HEADER, Authentication
from api.bodies import Body, StrictRequest
from api.candidates import CandidateController
from api.clock import ClockController
from api.conversations import EXPORTED, ConversationController
from api.errors import HANDLERS
from api.flags import FlagController
from api.health import HealthController
from api.instances import InstanceController
from api.keys import KeyController
from api.manager import ManagerController
from api.memories import MemoryController
from api.personas import PersonaController
from api.policy import PolicyController
from api.recall import RecallController
from api.runs import RunController
from api.tokens import TokenController
from engine import bounds
from engine.access import Caller, JwtVerifier, KeyRing, open_limiter
from engine.bounds import ID_PATTERN
from engine.embedding import Embedder, claim_model, open_embedder
from engine.errors import EngineError, Unavailable
from engine.forgetting import open_acknowledger
from engine.policy import set_deployment_policy
from engine.recall import Recall, UseLog
from engine.service import Jobs, WarmUpState, open_clock, repair_indexes, set_up_logs, warm_up
from engine.settings import Settings
from engine.store import Graph, migrate, open_broker
from engine.talk import DeviceNotifier
from engine.version import VERSION

HEADERS = [  # that every route takes; the last one also those that need no key
    Parameter(
        name=USER_HEADER,
        param_in="header",
        schema=Schema(type=OpenAPIType.STRING, pattern=ID_PATTERN, max_length=bounds.ID),
        description="The user for whom this is asked; it sees and touches only what they may.",
    ),
    Parameter(
        name=BOOKMARK,
        param_in="header",
        schema=Schema(
            type=OpenAPIType.STRING, pattern=GOOD_BOOKMARKS, max_length=LONGEST_BOOKMARKS
        ),
        description="Of an earlier answer: what was written then is seen now, by any process.",
    ),
    Parameter(
        name=REQUEST_ID,
        param_in="header",
        schema=Schema(type=OpenAPIType.STRING),
        description="Comes back with the answer and stands in the logs; made up when left out.",
    ),
]
PREPARE_AGAIN = 1.0  # seconds between two tries while Neo4j is away

log = structlog.get_logger("api")


def create_app(settings: Settings | None = None) -> Application:
    """The whole API over one graph and one broker."""
    settings = settings or Settings()
    set_up_logs(settings)
    graph = Graph.open(settings)
    redis = open_broker(settings)
    bells = DeviceNotifier(redis)
    embedder = open_embedder(settings)
    acknowledger = open_acknowledger(settings)
    jwts = JwtVerifier(
        graph,
        seconds=settings.key_cache_seconds,
        private_hosts=settings.jwks_private_hosts,
    )
    keys = KeyRing(graph, seconds=settings.key_cache_seconds, jwts=jwts)
    limiter = open_limiter(settings, redis)
    clock = open_clock(settings, graph)
    jobs = Jobs(settings)
    uses = UseLog(redis)
    warmth = WarmUpState()
    recall = Recall(
        graph, embedder, seconds=settings.persona_cache_seconds, profile=settings.recall_profile
    )

    @contextlib.asynccontextmanager
    async def opened(app: Litestar) -> AsyncIterator[None]:
        app.state.key_ring = keys
        app.state.limiter = limiter
        preparing = asyncio.create_task(prepare(graph, embedder, settings, warmth))
        try:
            yield
        finally:
            preparing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await preparing
            embedder.close()
            jobs.close()
            await bells.close()
            await redis.aclose()
            await graph.close()

    controllers: list[Any] = [
        HealthController,
        PersonaController,
        InstanceController,
        KeyController,
        TokenController,
        ConversationController,
        CandidateController,
        FlagController,
        MemoryController,
        RecallController,
        RunController,
        ManagerController,
        PolicyController,
    ]
    if settings.clock == "movable":
        controllers.append(ClockController)
    metrics = PrometheusConfig(app_name="pentimento", prefix="pentimento", group_path=True)
    app = Application(
        route_handlers=[Router("/api", route_handlers=controllers), MetricsController],
        lifespan=[opened],
        dependencies={
            "settings": Provide(lambda: settings, use_cache=True, sync_to_thread=False),
            "graph": Provide(lambda: graph, use_cache=True, sync_to_thread=False),
            "redis": Provide(lambda: redis, use_cache=True, sync_to_thread=False),
            "bells": Provide(lambda: bells, use_cache=True, sync_to_thread=False),
            "embedder": Provide(lambda: embedder, use_cache=True, sync_to_thread=False),
            "keys": Provide(lambda: keys, use_cache=True, sync_to_thread=False),
            "acknowledger": Provide(lambda: acknowledger, use_cache=True, sync_to_thread=False),
            "uses": Provide(lambda: uses, use_cache=True, sync_to_thread=False),
            "warmth": Provide(lambda: warmth, use_cache=True, sync_to_thread=False),
            "recall": Provide(lambda: recall, use_cache=True, sync_to_thread=False),
            "jobs": Provide(lambda: jobs, use_cache=True, sync_to_thread=False),
            "clock": Provide(lambda: clock, use_cache=True, sync_to_thread=False),
            "caller": Provide(the_caller, sync_to_thread=False),
        },
        middleware=[
            metrics.middleware,
            DefineMiddleware(Authentication, exclude="^/schema", exclude_from_auth_key="open"),
        ],
        exception_handlers=HANDLERS,  # type: ignore[arg-type]
        request_class=StrictRequest,
        before_request=check_bookmark,
        logging_config=None,  # engine.logs has set it up
        request_max_body_size=settings.max_body_bytes,
        openapi_config=OpenAPIConfig(
            title="Pentimento",
            version=VERSION,
            description="A memory engine for AI personas that forgets well.",
            license=License(name="Apache-2.0", identifier="Apache-2.0"),
            path="/schema",
            render_plugins=[JsonRenderPlugin(path=["/", "/openapi.json"]), YamlRenderPlugin()],
            use_handler_docstrings=True,
            components=Components(
                security_schemes={
                    "api_key": SecurityScheme(
                        type="http",
                        scheme="bearer",
                        description="An API key of the tenant, a user token made with one, or a "
                        "JWT of the tenant's identity provider.",
                    )
                }
            ),
            security=[{"api_key": []}],
        ),
    )
    finish_document(app.openapi_schema)
    app.answer_seconds = settings.answer_seconds
    return app


def finish_document(document: OpenAPI) -> None:
    """What Litestar cannot know: readable summaries, what an export is, strict bodies."""
    for path in (document.paths or {}).values():
        for operation in (path.get, path.post, path.put, path.patch, path.delete):
            if operation:
                open_to_all = operation.security == [{}]
                own = [*(operation.parameters or [])]
                operation.parameters = [*own, *(HEADERS[-1:] if open_to_all else HEADERS)]
            if operation and operation.operation_id:
                operation.summary = operation.operation_id.replace("_", " ").capitalize()
            if operation and operation.operation_id == "export_conversation":
                answer = (operation.responses or {})["200"]
                answer.content = {  # type: ignore[union-attr]  # ours are no references
                    media_type: OpenAPIMediaType(schema=Schema(type=OpenAPIType.STRING))
                    for media_type, _ in EXPORTED.values()
                }
    for body in Body.__subclasses__():
        if schema := (document.components.schemas or {}).get(body.__name__):
            schema.additional_properties = False


class MetricsController(PrometheusController):
    opt = {"open": True}  # noqa: RUF012
    include_in_schema = False


def the_caller(request: Request[Caller, Any, Any]) -> Caller:
    return request.user


async def prepare(
    graph: Graph, embedder: Embedder, settings: Settings, warmth: WarmUpState
) -> None:
    """Bring the graph to this version and warm up, however long Neo4j takes to come up."""
    while True:
        try:
            applied = await migrate(graph)
            if mended := await repair_indexes(graph):
                log.warning("failed_indexes_made_again", indexes=mended)
            await claim_model(graph, embedder, analyzer=settings.full_text_analyzer)
            await set_deployment_policy(graph, settings)
            await warm_up(graph, embedder, warmth)
        except Unavailable as error:
            log.warning("graph_not_ready", why=str(error))
            await asyncio.sleep(PREPARE_AGAIN)
        except EngineError as error:
            log.error("graph_refused", why=str(error))
            return
        else:
            log.info("graph_ready", applied=applied)
            return
