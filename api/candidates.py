"""/api/personas/{id}/candidates, /api/candidates/{id}, and the gate in front of them"""

from typing import Annotated

from litestar import Controller, delete, get, patch, post
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from litestar.status_codes import HTTP_200_OK
from msgspec import UNSET

from api.auth import EDITORS, STAFF
from api.errors import problems
from api.wire import CandidateChanges, Cursor, Limit, NewCandidate, PathId, like
from engine.candidates import (
    edit_candidate,
    list_candidates,
    propose_candidate,
    read_gate,
    remove_candidate,
    restore_candidate,
)
from engine.clock import Clock
from engine.embedding import Embedder
from engine.graph import Graph
from engine.models import Caller, Candidate, CandidateState, Gate, Page
from engine.settings import Settings


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
        settings: NamedDependency[Settings],
    ) -> Candidate:
        """Propose a memory item that the runtime has drawn itself."""
        return await propose_candidate(
            graph,
            embedder,
            caller.tenant_id,
            persona_id,
            memory_type=data.memory_type,
            text=data.text,
            content=data.content,
            source_message_ids=data.source_message_ids,
            chosen_id=data.candidate_id,
            now=await clock.now(),
            window=settings.editing_window,
        )

    @get(
        "/personas/{persona_id:str}/candidates",
        operation_id="list_candidates",
        guards=[STAFF],
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
            caller.tenant_id,
            persona_id,
            states=[candidate_state],
            window=settings.editing_window,
            cursor=cursor,
            limit=limit,
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
        guards=[EDITORS],
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
            caller.tenant_id,
            candidate_id,
            text=None if data.text is UNSET else data.text,
            content=None if data.content is UNSET else data.content,
            now=await clock.now(),
            window=settings.editing_window,
        )

    @post(
        "/candidates/{candidate_id:str}/restore",
        operation_id="restore_candidate",
        guards=[EDITORS],
        status_code=HTTP_200_OK,
        responses=problems(404, 409),
    )
    async def restore(
        self,
        candidate_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        settings: NamedDependency[Settings],
    ) -> Candidate:
        """Put a candidate that the night passed over while it was flagged into the next one."""
        return await restore_candidate(
            graph,
            caller.tenant_id,
            candidate_id,
            now=await clock.now(),
            window=settings.editing_window,
        )

    @delete(
        "/candidates/{candidate_id:str}",
        operation_id="remove_candidate",
        guards=[EDITORS],
        responses=problems(404, 409),
    )
    async def remove(
        self,
        candidate_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        settings: NamedDependency[Settings],
    ) -> None:
        """Keep a candidate from becoming a memory, inside its editing window."""
        await remove_candidate(
            graph,
            caller.tenant_id,
            candidate_id,
            now=await clock.now(),
            window=settings.editing_window,
        )
