"""/api/shapes/{id}/relearn and /share, and /api/personas/{id}/shadow"""

from datetime import datetime
from typing import Annotated

from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from litestar.status_codes import HTTP_200_OK, HTTP_201_CREATED
from redis.asyncio import Redis

from api.auth import EDITORS, OPERATORS
from api.bodies import SharedWith, body_example
from api.errors import problems
from api.parameters import PathId
from api.preview import Preview, run_or_preview
from engine.access import Caller
from engine.bounds import SHADOW_SHAPES
from engine.embedding import Embedder
from engine.memory import Relearning, Shadow, Shape, read_shadow, relearn_shape, share_shape
from engine.store import Graph
from engine.talk import record_effect

Shapes = Annotated[
    int, QueryParameter(ge=1, le=SHADOW_SHAPES, description="The most shapes that are shown.")
]


class ShadowController(Controller):
    tags = ("shapes",)

    @post(
        "/shapes/{shape_id:str}/relearn",
        operation_id="relearn_shape",
        summary="Bring back what a shape stands for",
        guards=[EDITORS],
        status_code=HTTP_200_OK,
        responses=problems(404, 409),
    )
    async def relearn(
        self,
        shape_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        redis: NamedDependency[Redis],
        now: NamedDependency[datetime],
        preview: Preview = False,
    ) -> Relearning:
        """Unarchive every memory behind a forgotten shape, also through shapes of shapes.

        The shape steps back. What is flagged stays as it is. A shape that nothing is behind, such
        as a rumour, is a 409.
        """
        relearned = await run_or_preview(
            graph, lambda graph: relearn_shape(graph, caller, shape_id, now=now), preview=preview
        )
        if relearned.memory_ids and not preview:
            await record_effect(graph, redis, caller, "relearned", relearned.memory_ids, now=now)
        return relearned

    @post(
        "/shapes/{shape_id:str}/share",
        operation_id="share_shape",
        summary="Tell another persona of a shape",
        guards=[EDITORS],
        status_code=HTTP_201_CREATED,
        responses=problems(404, 409, 413, 503),
    )
    async def share(
        self,
        shape_id: PathId,
        data: Annotated[SharedWith, body_example(persona_id="eve")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        embedder: NamedDependency[Embedder],
        now: NamedDependency[datetime],
    ) -> Shape:
        """Give another persona of the tenant a rumour of a shape: its structure, and no source.

        Sharing it twice gives one rumour. A withdrawn shape is a 409.
        """
        return await share_shape(graph, embedder, caller, shape_id, data.persona_id, now=now)

    @get(
        "/personas/{persona_id:str}/shadow",
        operation_id="read_shadow",
        summary="Show what a persona tends to lose",
        guards=[OPERATORS],
        responses=problems(404),
    )
    async def shadow(
        self,
        persona_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        limit: Shapes = 100,
    ) -> Shadow:
        """The forgotten shapes of a persona, what is between them, and a report of its losses."""
        return await read_shadow(graph, caller.tenant_id, persona_id, limit=limit)
