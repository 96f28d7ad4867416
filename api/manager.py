"""/api/items: what the Memory Manager lists; and /api/personas/{id}/context"""

from typing import Annotated

from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from litestar.status_codes import HTTP_200_OK

from api.auth import only
from api.errors import problems
from api.wire import ContextWanted, Cursor, Limit, PathId, like
from engine.context import Context, assemble_context
from engine.graph import Graph
from engine.items import Item, Sort, Standing, Which, count_items, list_items
from engine.models import Caller, MemoryType, Page, Role

OneId = Annotated[str | None, QueryParameter(max_length=128)]
Kind = Annotated[MemoryType | None, QueryParameter(name="type")]
Words = Annotated[
    str | None, QueryParameter(name="q", max_length=200, description="Only what says this.")
]


class ManagerController(Controller):
    tags = ("memory manager",)

    @get("/items", operation_id="list_items", responses=problems())
    async def page(
        self,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        persona_id: OneId = None,
        instance_id: OneId = None,
        memory_type: Kind = None,
        words: Words = None,
        standing: Annotated[Standing | None, QueryParameter(name="state")] = None,
        sort: Sort = Sort.NEWEST,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Item]:
        """Candidates and memories of the tenant, an instance or a persona, in one list."""
        which = Which(persona_id, instance_id, memory_type, words)
        return await list_items(
            graph, caller, which, standing=standing, sort=sort, cursor=cursor, limit=limit
        )

    @get("/items/counts", operation_id="count_items", responses=problems())
    async def counts(
        self,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        persona_id: OneId = None,
        instance_id: OneId = None,
        memory_type: Kind = None,
        words: Words = None,
    ) -> dict[str, int]:
        """How many of them stand where."""
        which = Which(persona_id, instance_id, memory_type, words)
        return await count_items(graph, caller, which)

    @post(
        "/personas/{persona_id:str}/context",
        operation_id="assemble_context",
        guards=[only(Role.RUNTIME, Role.ADMIN)],
        status_code=HTTP_200_OK,
        responses=problems(404, 413),
    )
    async def context(
        self,
        persona_id: PathId,
        data: Annotated[ContextWanted, like(conversation_id="monday", turns=20)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
    ) -> Context:
        """What the persona should have in mind: what was said last, without what is flagged."""
        return await assemble_context(
            graph, caller, persona_id, data.conversation_id, turns=data.turns
        )
