"""/api/personas/{id}/recall, /context and /hydrate"""

from datetime import datetime
from typing import Annotated, TypeVar

from litestar import Controller, Response, post
from litestar.background_tasks import BackgroundTask
from litestar.di import NamedDependency
from litestar.status_codes import HTTP_200_OK

from api.auth import EDITORS, STAFF
from api.bodies import ContextQuery, HydrationQuery, RecallQuery, body_example
from api.errors import problems
from api.parameters import PathId, in_utc
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
from engine.store import Graph

T = TypeVar("T")


class RecallController(Controller):
    tags = ("recall",)
    path = "/personas/{persona_id:str}"

    @post(
        "/recall",
        operation_id="recall",
        summary="Recall memories",
        guards=[STAFF],
        status_code=HTTP_200_OK,
        responses=problems(404, 413, 503),
    )
    async def ask(
        self,
        persona_id: PathId,
        data: Annotated[RecallQuery, body_example(query="Where does Sam live now?", limit=5)],
        caller: NamedDependency[Caller],
        recall: NamedDependency[Recall],
        use_log: NamedDependency[UseLog],
        now: NamedDependency[datetime],
    ) -> Response[RecallResult]:
        """The memories that answer a query best, the best first.

        They count as used, shortly after the answer; not for an analyst, nor with
        `counts: false`.
        """
        result = await recall.recall(
            caller.tenant_id,
            persona_id,
            data.query,
            now=now,
            limit=data.limit,
            cursor=data.cursor,
            filters=recall_filters(data),
            as_of=in_utc(data.as_of),
            asked_by=data.asked_by,
            profile=data.profile,
            explain=data.explain,
        )
        counts = data.counts and caller.role is not Role.ANALYST
        used_ids = tuple(hit.id for hit in result.hits) if counts else ()
        use = Use(result.recall_id, caller.tenant_id, persona_id, used_ids, now)
        return count_use_after(result, use_log, use)

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
        data: Annotated[ContextQuery, body_example(conversation_id="monday", budget=4000)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        recall: NamedDependency[Recall],
        embedder: NamedDependency[Embedder],
        use_log: NamedDependency[UseLog],
        now: NamedDependency[datetime],
    ) -> Response[Context]:
        """What a persona should know before it answers, in layers, within a token budget.

        Without `query`, what somebody said last in the conversation is the query. The memories that
        answer it count as used, shortly after; memories that are always included, such as pinned
        ones, do not.
        """
        context_request = ContextRequest(
            data.conversation_id, data.query, data.budget, data.turns, data.memories
        )
        context = await assemble_context(
            graph, recall, embedder, caller, persona_id, context_request, now=now
        )
        used_ids = tuple(
            piece.memory_id
            for piece in context.pieces
            if piece.memory_id and piece.score is not None and data.counts
        )
        if context.recall_id is None:  # nothing was asked
            return Response(context)
        use = Use(context.recall_id, caller.tenant_id, persona_id, used_ids, now)
        return count_use_after(context, use_log, use)

    @post(
        "/hydrate",
        operation_id="hydrate",
        summary="Get what a session starts with",
        guards=[EDITORS],
        status_code=HTTP_200_OK,
        responses=problems(404, 413),
    )
    async def wake(
        self,
        persona_id: PathId,
        data: Annotated[HydrationQuery, body_example(budget=2000, seed=7)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        embedder: NamedDependency[Embedder],
        now: NamedDependency[datetime],
    ) -> Hydration:
        """What a persona starts a session with, before anything is said. Never counts as use."""
        return await hydrate(
            graph,
            embedder,
            caller.tenant_id,
            persona_id,
            now=now,
            budget=data.budget,
            recent=data.recent,
            project=data.project,
            seed=data.seed,
        )


def recall_filters(query: RecallQuery) -> Filters:
    return Filters(
        types=tuple(query.types or MemoryType),
        categories=tuple(query.categories) if query.categories else None,
        tags=tuple(query.tags) if query.tags else None,
        project=query.project,
        from_at=in_utc(query.from_at),
        to_at=in_utc(query.to_at),
        include_pending=query.include_pending,
        include_archived=query.include_archived,
    )


def count_use_after(answer: T, use_log: UseLog, use: Use) -> Response[T]:
    """The answer as a response; once it is sent, the memories in it are counted as used."""
    if not use.memory_ids:
        return Response(answer)
    return Response(answer, background=BackgroundTask(use_log.record, use))
