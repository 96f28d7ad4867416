"""/api/personas/{id}/candidates, /api/candidates/{id} and the gate"""

from datetime import datetime
from typing import Annotated

from litestar import Controller, Response, delete, get, patch, post
from litestar.di import NamedDependency, Provide
from litestar.openapi import ResponseSpec
from litestar.params import QueryParameter
from litestar.status_codes import HTTP_200_OK
from msgspec import UNSET

from api.auth import EDITORS, PEOPLE, STAFF
from api.bodies import CandidateChanges, NewCandidate, body_example
from api.errors import problems
from api.parameters import Cursor, Limit, PathId
from api.preview import ItemChange, Preview, provide_item_change
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
from engine.settings import Settings
from engine.store import Graph, Page


class CandidateController(Controller):
    tags = ("candidates",)
    dependencies = {"change": Provide(provide_item_change, sync_to_thread=False)}  # noqa: RUF012

    @post(
        "/personas/{persona_id:str}/candidates",
        operation_id="propose_candidate",
        guards=[EDITORS],
        responses=problems(404, 409, 413),
    )
    async def propose(
        self,
        persona_id: PathId,
        data: Annotated[
            NewCandidate, body_example(memory_type="semantic", text="Sam lives in Lisbon.")
        ],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        embedder: NamedDependency[Embedder],
        now: NamedDependency[datetime],
    ) -> Candidate:
        """Propose a memory item that the caller has extracted itself.

        It waits as a candidate, and becomes a memory in a night after its editing window.
        """
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
            now=now,
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
        """List a persona's candidates of one state: pending ones, unless another is named."""
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
        summary="Get extraction counts",
        guards=[STAFF],
        responses=problems(404),
    )
    async def gate(
        self, persona_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> Gate:
        """How many messages became candidates, and for what reasons the others did not."""
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
        data: Annotated[CandidateChanges, body_example(text="Sam lives in Porto.")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        embedder: NamedDependency[Embedder],
        now: NamedDependency[datetime],
        settings: NamedDependency[Settings],
    ) -> Candidate:
        """Change the text or content of a candidate while its editing window is open."""
        return await edit_candidate(
            graph,
            embedder,
            caller,
            candidate_id,
            text=None if data.text is UNSET else data.text,
            content=None if data.content is UNSET else data.content,
            now=now,
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
        change: NamedDependency[ItemChange],
    ) -> Candidate:
        """Offer a candidate to the next night again, after a night left it out for its flag."""
        return await change.apply(
            lambda graph: restore_candidate(
                graph,
                change.caller,
                candidate_id,
                now=change.now,
                badges_for_all=change.badges_for_all,
            ),
            effect="restored",
            item_id=candidate_id,
        )

    @delete(
        "/candidates/{candidate_id:str}",
        operation_id="remove_candidate",
        guards=[PEOPLE],
        responses={
            **problems(404, 409),
            HTTP_200_OK: ResponseSpec(
                AffectedItems, description="With `preview`: what would change."
            ),
        },
    )
    async def remove(
        self,
        candidate_id: PathId,
        change: NamedDependency[ItemChange],
        preview: Preview = False,
    ) -> Response[None]:
        """Keep a candidate from becoming a memory, while its editing window is open."""

        async def remove(graph: Graph) -> None:
            await remove_candidate(graph, change.caller, candidate_id, now=change.now)

        if preview:
            await change.graph.preview(remove)
            affected = affected_items({"candidate_ids": [candidate_id]})
            return Response(affected, status_code=HTTP_200_OK)  # type: ignore[arg-type]
        await change.apply(remove, effect="removed", item_id=candidate_id)
        return Response(None)
