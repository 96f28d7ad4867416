"""/api/items: candidates and memories in one list, for a Memory Manager"""

from typing import Annotated

from litestar import Controller, get
from litestar.di import NamedDependency
from litestar.params import FromQuery, QueryParameter

from api.errors import problems
from api.parameters import Cursor, Limit, QueryId
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

TypeFilter = Annotated[MemoryType | None, QueryParameter(name="type")]
SearchWords = Annotated[
    str | None,
    QueryParameter(
        name="q",
        max_length=200,
        description="Only items with all of these words; the last one may be incomplete.",
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
        persona_id: QueryId = None,
        instance_id: QueryId = None,
        memory_type: TypeFilter = None,
        words: SearchWords = None,
        item_state: Annotated[ItemState | None, QueryParameter(name="state")] = None,
        sort: FromQuery[ItemOrder] = ItemOrder.NEWEST,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Item]:
        """List candidates and memories together: of the tenant, an instance or a persona.

        One call looks at 5,000 items at most, so a page can be shorter than `limit`, even empty,
        and still have a `next_cursor`. Sorting by importance or salience lists memories only,
        since candidates have neither.
        """
        filters = ItemFilter(persona_id, instance_id, memory_type, words)
        return await list_items(
            graph,
            caller,
            filters,
            standing=item_state,
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
        persona_id: QueryId = None,
        instance_id: QueryId = None,
        memory_type: TypeFilter = None,
        words: SearchWords = None,
    ) -> ItemCounts:
        """Count candidates and memories by state, among the newest 5,000.

        `more` says that there are older ones, which are not counted.
        """
        filters = ItemFilter(persona_id, instance_id, memory_type, words)
        return await count_items(graph, caller, filters, badges_for_all=settings.badges_for_all)
