"""/api/personas/{id}/candidates, /api/candidates/{id}, and the gate in front of them"""

from typing import Annotated

from litestar import Controller, Response, delete, get, patch, post
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.params import QueryParameter
from litestar.status_codes import HTTP_200_OK
from msgspec import UNSET
from redis.asyncio import Redis

from api.auth import EDITORS, PEOPLE, STAFF
from api.bodies import CandidateChanges, Cursor, Limit, NewCandidate, PathId, like
from api.errors import problems
from api.preview import Preview, run_or_preview
from engine.access import Caller
from engine.embedding import Embedder
from engine.forgetting import AffectedItems, affected_items
from engine.memory import (
    Candidate,
    CandidateState,
    Gate,
    edit_candidate,
    list_candidates,
    propose_candidate,
    read_gate,
    remove_candidate,
    restore_candidate,
)
from engine.service import Clock
from engine.settings import Settings
from engine.store import Graph, Page
from engine.talk import record_effect


class CandidateController(Controller):
    tags = ("candidates",)

    @post(
        "/personas/{persona_id:str}/candidates",
        operation_id="propose_candidate",
        guards=[EDITORS],
        responses=problems(404, 409, 413),
    )
    async def propose(
        self,
        persona_id: PathId,
        data: Annotated[NewCandidate, like(memory_type="semantic", text="Sam lives in Lisbon.")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        embedder: NamedDependency[Embedder],
        clock: NamedDependency[Clock],
    ) -> Candidate:
        """Propose a memory item that the runtime has drawn itself."""
        return await propose_candidate(
            graph,
            embedder,
            caller,
            persona_id,
            memory_type=data.memory_type,
            text=data.text,
            content=data.content,
            source_message_ids=data.source_message_ids,
            chosen_id=data.candidate_id,
            now=await clock.now(),
        )

    @get(
        "/personas/{persona_id:str}/candidates",
        operation_id="list_candidates",
        responses=problems(404),
    )
    async def page(
        self,
        persona_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        settings: NamedDependency[Settings],
        candidate_state: Annotated[CandidateState, QueryParameter(name="state")] = (
            CandidateState.PENDING
        ),
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Candidate]:
        """The persona's candidates of one state."""
        return await list_candidates(
            graph,
            caller,
            persona_id,
            states=[candidate_state],
            cursor=cursor,
            limit=limit,
            badges_for_all=settings.badges_for_all,
        )

    @get(
        "/personas/{persona_id:str}/gate",
        operation_id="read_gate",
        guards=[STAFF],
        responses=problems(404),
    )
    async def gate(
        self, persona_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> Gate:
        """How much of what was said became candidates, and why the rest did not."""
        return await read_gate(graph, caller.tenant_id, persona_id)

    @patch(
        "/candidates/{candidate_id:str}",
        operation_id="edit_candidate",
        guards=[PEOPLE],
        responses=problems(404, 409, 413),
    )
    async def edit(
        self,
        candidate_id: PathId,
        data: Annotated[CandidateChanges, like(text="Sam lives in Porto.")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        embedder: NamedDependency[Embedder],
        clock: NamedDependency[Clock],
        settings: NamedDependency[Settings],
    ) -> Candidate:
        """Change what a candidate says, inside its editing window."""
        return await edit_candidate(
            graph,
            embedder,
            caller,
            candidate_id,
            text=None if data.text is UNSET else data.text,
            content=None if data.content is UNSET else data.content,
            now=await clock.now(),
            badges_for_all=settings.badges_for_all,
        )

    @post(
        "/candidates/{candidate_id:str}/restore",
        operation_id="restore_candidate",
        guards=[PEOPLE],
        status_code=HTTP_200_OK,
        responses=problems(404, 409),
    )
    async def restore(
        self,
        candidate_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        redis: NamedDependency[Redis],
        settings: NamedDependency[Settings],
    ) -> Candidate:
        """Put a candidate that the night passed over while it was flagged into the next one."""
        now = await clock.now()
        candidate = await restore_candidate(
            graph,
            caller,
            candidate_id,
            now=now,
            badges_for_all=settings.badges_for_all,
        )
        await record_effect(graph, redis, caller, "restored", [candidate_id], now=now)
        return candidate

    @delete(
        "/candidates/{candidate_id:str}",
        operation_id="remove_candidate",
        guards=[PEOPLE],
        responses={
            **problems(404, 409),
            HTTP_200_OK: ResponseSpec(
                AffectedItems, description="What it would touch, with `preview`."
            ),
        },
    )
    async def remove(
        self,
        candidate_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        redis: NamedDependency[Redis],
        preview: Preview = False,
    ) -> Response[None]:
        """Keep a candidate from becoming a memory, inside its editing window."""
        now = await clock.now()

        async def remove(there: Graph) -> AffectedItems:
            await remove_candidate(there, caller, candidate_id, now=now)
            return affected_items({"candidate_ids": [candidate_id]})

        touched = await run_or_preview(graph, remove, preview=preview)
        if preview:
            return Response(touched, status_code=HTTP_200_OK)  # type: ignore[arg-type]
        await record_effect(graph, redis, caller, "removed", [candidate_id], now=now)
        return Response(None)
