"""/api/memories/{id}/recalls"""

from datetime import datetime
from typing import Annotated

from litestar import Controller, get, post
from litestar.di import NamedDependency

from api.auth import EDITORS, STAFF
from api.bodies import NewRecallBody, body_example
from api.errors import problems
from api.parameters import Cursor, Limit, PathId
from engine.access import Caller
from engine.memory import NewRecall, RecordedRecall, list_recalls, record_recall
from engine.store import Graph, Page


class RecallRecordController(Controller):
    tags = ("memories",)
    path = "/memories/{memory_id:str}/recalls"

    @get(operation_id="list_recalls", guards=[STAFF], responses=problems(404))
    async def page(
        self,
        memory_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[RecordedRecall]:
        """List what recalling a memory has brought up, in the order it was recorded.

        A caller that acts for a user gets what was recorded for that user.
        """
        return await list_recalls(graph, caller, memory_id, cursor=cursor, limit=limit)

    @post(
        operation_id="record_recall",
        summary="Record a recall",
        guards=[EDITORS],
        responses=problems(404, 409, 413),
    )
    async def record(
        self,
        memory_id: PathId,
        data: Annotated[
            NewRecallBody,
            body_example(
                recall_id="recall-1",
                response="It made me smile, and miss her a little.",
                valence="Bittersweet",
                surfaced_by="hydration",
            ),
        ],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
    ) -> RecordedRecall:
        """Record what recalling a memory brought up in the persona. Counts one use of the memory.

        Sent again with the same `recall_id`, nothing is counted twice.
        """
        new = NewRecall(data.response, data.valence, data.surfaced_by, data.recall_id)
        return await record_recall(graph, caller, memory_id, new, now=now)
