"""/api/memories/{id}/links, and memories that are used together"""

from datetime import datetime
from typing import Annotated

from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.status_codes import HTTP_200_OK

from api.auth import EDITORS
from api.bodies import JointUse, NewLink, body_example
from api.errors import problems
from api.parameters import PathId
from engine.access import Caller
from engine.memory import Coactivation, Link, add_link, coactivate, list_links
from engine.store import Graph


class LinkController(Controller):
    tags = ("memories",)

    @get("/memories/{memory_id:str}/links", operation_id="list_links", responses=problems(404))
    async def links(
        self, memory_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> list[Link]:
        """List the links from and to a memory, the strongest first."""
        return await list_links(graph, caller, memory_id)

    @post(
        "/memories/{memory_id:str}/links",
        operation_id="add_link",
        guards=[EDITORS],
        responses=problems(404, 413),
    )
    async def link(
        self,
        memory_id: PathId,
        data: Annotated[NewLink, body_example(to_id="01a0", type="ENABLES", strength=0.6)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
    ) -> Link:
        """Link a memory to another one of the same persona.

        A link of that type that exists already stays as it is, and is the answer.
        """
        return await add_link(
            graph, caller, memory_id, data.to_id, data.type, strength=data.strength, now=now
        )

    @post(
        "/personas/{persona_id:str}/coactivate",
        operation_id="coactivate",
        summary="Count memories as used together",
        guards=[EDITORS],
        status_code=HTTP_200_OK,
        responses=problems(404, 413),
    )
    async def coactivate(
        self,
        persona_id: PathId,
        data: Annotated[JointUse, body_example(memory_ids=["01a0", "01a1"], use_id="turn-7")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
    ) -> Coactivation:
        """Count one use of each memory, and strengthen the links between them.

        Sent again with the same `use_id`, nothing is counted twice.
        """
        return await coactivate(
            graph, caller, persona_id, data.memory_ids, use_id=data.use_id, now=now
        )
