"""/api/personas/{id}/shapes and /api/shapes/{id}"""

from datetime import datetime
from typing import Annotated

from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from api.auth import EDITORS
from api.bodies import NewShapeBody, body_example
from api.errors import problems
from api.parameters import Cursor, Limit, PathId
from engine.access import Caller
from engine.embedding import Embedder
from engine.memory import MemoryState, NewShape, Shape, create_shape, get_shape, list_shapes
from engine.store import Graph, Page


class ShapeController(Controller):
    tags = ("shapes",)

    @get("/personas/{persona_id:str}/shapes", operation_id="list_shapes", responses=problems(404))
    async def page(
        self,
        persona_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        shape_state: Annotated[MemoryState | None, QueryParameter(name="state")] = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Shape]:
        """List a persona's forgotten shapes, the newest first.

        Without a state, those that a night has withdrawn are left out: they say nothing until they
        are drawn again.
        """
        return await list_shapes(
            graph, caller, persona_id, state=shape_state, cursor=cursor, limit=limit
        )

    @post(
        "/personas/{persona_id:str}/shapes",
        operation_id="add_shape",
        guards=[EDITORS],
        responses=problems(404, 409, 413, 503),
    )
    async def add(
        self,
        persona_id: PathId,
        data: Annotated[
            NewShapeBody,
            body_example(
                shape_id="harbour",
                connected_themes="boats, a harbour",
                felt_absence="Somebody used to wave from the quay, and you cannot say who.",
                emotional_residue=0.6,
                temporal_marker="in some summer",
                sense_of_loss="it mattered",
            ),
        ],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        embedder: NamedDependency[Embedder],
        now: NamedDependency[datetime],
    ) -> Shape:
        """Add a forgotten shape by hand. It is recalled, linked and fades like one a night drew."""
        new = NewShape(
            connected_themes=data.connected_themes,
            felt_absence=data.felt_absence,
            emotional_residue=data.emotional_residue,
            temporal_marker=data.temporal_marker,
            sense_of_loss=data.sense_of_loss,
            chosen_id=data.shape_id,
        )
        return await create_shape(graph, embedder, caller, persona_id, new, now=now)

    @get("/shapes/{shape_id:str}", operation_id="get_shape", responses=problems(404))
    async def one(
        self, shape_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> Shape:
        """Get one forgotten shape, whatever its state."""
        return await get_shape(graph, caller, shape_id)
