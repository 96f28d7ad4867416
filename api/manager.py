"""/api/items: what the Memory Manager lists"""

from typing import Annotated

from litestar import Controller, get
from litestar.di import NamedDependency
from litestar.params import FromQuery, QueryParameter

from api.bodies import Cursor, Limit
from api.errors import problems
from engine.access import Caller
from engine.memory import (
    Item,
    ItemCounts,
    ItemFilter,
    ItemOrder,
    ItemState,
    count_items,
    list_items,
)
from engine.models import MemoryType
from engine.settings import Settings
from engine.store import Graph, Page

OneId = Annotated[str | None, QueryParameter(max_length=128)]
Kind = Annotated[MemoryType | None, QueryParameter(name="type")]
Words = Annotated[
    str | None,
    QueryParameter(
        name="q",
        max_length=200,
        description="Only what says all of these words; the last may be a beginning.",
    ),
]


class ManagerController(Controller):
    tags = ("memory manager",)

    @get("/items", operation_id="list_items", responses=problems())
    async def page(
        self,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        settings: NamedDependency[Settings],
        persona_id: OneId = None,
        instance_id: OneId = None,
        memory_type: Kind = None,
        words: Words = None,
        standing: Annotated[ItemState | None, QueryParameter(name="state")] = None,
        sort: FromQuery[ItemOrder] = ItemOrder.NEWEST,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Item]:
        """Candidates and memories of the tenant, an instance or a persona, in one list.

        A page may be shorter than its limit, or empty, and have a next one: one call looks at 5,000
        items at most. Importance and salience sort memories; candidates have neither.
        """
        which = ItemFilter(persona_id, instance_id, memory_type, words)
        return await list_items(
            graph,
            caller,
            which,
            standing=standing,
            sort=sort,
            cursor=cursor,
            limit=limit,
            badges_for_all=settings.badges_for_all,
        )

    @get("/items/counts", operation_id="count_items", responses=problems())
    async def counts(
        self,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        settings: NamedDependency[Settings],
        persona_id: OneId = None,
        instance_id: OneId = None,
        memory_type: Kind = None,
        words: Words = None,
    ) -> ItemCounts:
        """How many of the newest 5,000 of them stand where; `more` when there are others."""
        which = ItemFilter(persona_id, instance_id, memory_type, words)
        return await count_items(graph, caller, which, badges_for_all=settings.badges_for_all)
