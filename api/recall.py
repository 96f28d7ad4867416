"""/api/personas/{id}/recall, /context and /hydrate: what comes to mind"""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, TypeVar

from litestar import Controller, Response, post
from litestar.background_tasks import BackgroundTask
from litestar.di import NamedDependency
from litestar.status_codes import HTTP_200_OK

from api.auth import EDITORS, STAFF
from api.bodies import Asked, ContextWanted, PathId, Waking, in_utc, like
from api.errors import problems
from engine.access import Caller, Role
from engine.embedding import Embedder
from engine.memory import Use
from engine.models import MemoryType
from engine.recall import (
    Context,
    ContextRequest,
    Filters,
    Hydration,
    Recall,
    RecallResult,
    UseLog,
    assemble_context,
    hydrate,
)
from engine.service import Clock
from engine.store import Graph

T = TypeVar("T")


class RecallController(Controller):
    tags = ("recall",)
    path = "/personas/{persona_id:str}"

    @post(
        "/recall",
        operation_id="recall",
        guards=[STAFF],
        status_code=HTTP_200_OK,
        responses=problems(404, 413, 503),
    )
    async def ask(
        self,
        persona_id: PathId,
        data: Annotated[Asked, like(query="Where does Sam live now?", limit=5)],
        caller: NamedDependency[Caller],
        recall: NamedDependency[Recall],
        uses: NamedDependency[UseLog],
        clock: NamedDependency[Clock],
    ) -> Response[RecallResult]:
        """What a persona remembers of what it is asked, the best first.

        What is handed out counts as used, a moment later; asked by an analyst it does not.
        """
        now = await clock.now()
        recalled = await recall.recall(
            caller.tenant_id,
            persona_id,
            data.query,
            now=now,
            limit=data.limit,
            cursor=data.cursor,
            filters=Filters(
                types=tuple(data.types or MemoryType),
                categories=tuple(data.categories) if data.categories else None,
                tags=tuple(data.tags) if data.tags else None,
                project=data.project,
                from_at=in_utc(data.from_at),
                to_at=in_utc(data.to_at),
                include_pending=data.include_pending,
                include_archived=data.include_archived,
            ),
            as_of=in_utc(data.as_of),
            asked_by=data.asked_by,
            profile=data.profile,
            explain=data.explain,
        )
        used = (hit.id for hit in recalled.hits)
        counts = data.counts and caller.role is not Role.ANALYST
        return told(
            recalled, uses, caller, persona_id, recalled.recall_id, used if counts else (), now
        )

    @post(
        "/context",
        operation_id="assemble_context",
        guards=[EDITORS],
        status_code=HTTP_200_OK,
        responses=problems(404, 413, 503),
    )
    async def context(
        self,
        persona_id: PathId,
        data: Annotated[ContextWanted, like(conversation_id="monday", budget=4000)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        recall: NamedDependency[Recall],
        embedder: NamedDependency[Embedder],
        uses: NamedDependency[UseLog],
        clock: NamedDependency[Clock],
    ) -> Response[Context]:
        """What the persona should have in mind before it answers, layer by layer.

        Without a query, what somebody said last is what it is asked. The memories that answer it
        count as used, a moment later; what is in it unasked, as pinned ones are, does not.
        """
        now = await clock.now()
        wanted = ContextRequest(
            data.conversation_id, data.query, data.budget, data.turns, data.memories
        )
        context = await assemble_context(
            graph, recall, embedder, caller, persona_id, wanted, now=now
        )
        used = (
            piece.memory_id
            for piece in context.pieces
            if piece.memory_id and piece.score is not None
        )
        return told(
            context,
            uses,
            caller,
            persona_id,
            context.recall_id,
            used if data.counts else (),
            now,
        )

    @post(
        "/hydrate",
        operation_id="hydrate",
        guards=[EDITORS],
        status_code=HTTP_200_OK,
        responses=problems(404, 413),
    )
    async def wake(
        self,
        persona_id: PathId,
        data: Annotated[Waking, like(budget=2000, seed=7)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        embedder: NamedDependency[Embedder],
        clock: NamedDependency[Clock],
    ) -> Hydration:
        """What a persona wakes up with, before anybody has said anything. Never counts as use."""
        return await hydrate(
            graph,
            embedder,
            caller.tenant_id,
            persona_id,
            now=await clock.now(),
            budget=data.budget,
            recent=data.recent,
            project=data.project,
            seed=data.seed,
        )


def told(
    answer: T,
    uses: UseLog,
    caller: Caller,
    persona_id: str,
    recall_id: str | None,
    used: Iterable[str],
    now: datetime,
) -> Response[T]:
    """The answer; once it is sent, what it handed out is told to be counted."""
    memory_ids = tuple(used)
    if recall_id is None or not memory_ids:
        return Response(answer)
    use = Use(recall_id, caller.tenant_id, persona_id, memory_ids, now)
    return Response(answer, background=BackgroundTask(uses.record, use))
