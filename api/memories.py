"""/api/personas/{id}/memories and /api/memories/{id}"""

from datetime import datetime
from typing import Annotated

from litestar import Controller, get, patch, post
from litestar.di import NamedDependency, Provide
from litestar.params import QueryParameter
from litestar.status_codes import HTTP_200_OK

from api.auth import EDITORS, PEOPLE
from api.bodies import MemoryChanges, Minimization, NewMemoryBody, body_example, given_fields
from api.errors import problems
from api.parameters import AsOf, Cursor, Limit, PathId, message_time, parse_time
from api.preview import ItemChange, Preview, provide_item_change
from engine.access import Caller
from engine.embedding import Embedder
from engine.forgetting import AffectedItems
from engine.memory import (
    Memory,
    MemoryState,
    NewMemory,
    archive_memory,
    change_memory,
    get_memory,
    list_memories,
    minimize_memory,
    remember,
    unarchive_memory,
)
from engine.models import MemoryType
from engine.settings import Settings
from engine.store import Graph, Page


def as_new_memory(body: NewMemoryBody) -> NewMemory:
    return NewMemory(
        memory_type=body.memory_type,
        text=body.text,
        content=body.content,
        source_message_ids=body.source_message_ids,
        chosen_id=body.memory_id,
        said_at=message_time(body.said_at) if body.said_at else None,
        tags=body.tags,
        project=body.project,
        importance=body.importance,
        pinned=body.pinned,
    )


class MemoryController(Controller):
    tags = ("memories",)
    dependencies = {"change": Provide(provide_item_change, sync_to_thread=False)}  # noqa: RUF012

    @get(
        "/personas/{persona_id:str}/memories",
        operation_id="list_memories",
        responses=problems(404),
    )
    async def page(
        self,
        persona_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
        settings: NamedDependency[Settings],
        memory_state: Annotated[MemoryState, QueryParameter(name="state")] = MemoryState.ACTIVE,
        memory_type: Annotated[MemoryType | None, QueryParameter(name="type")] = None,
        category: Annotated[str | None, QueryParameter(max_length=100)] = None,
        as_of: AsOf = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Memory]:
        """List a persona's memories of one state: active ones, unless another is named."""
        return await list_memories(
            graph,
            caller,
            persona_id,
            now=now,
            state=memory_state,
            memory_type=memory_type,
            category=category,
            held_at=parse_time(as_of),
            cursor=cursor,
            limit=limit,
            badges_for_all=settings.badges_for_all,
        )

    @post(
        "/personas/{persona_id:str}/memories",
        operation_id="remember",
        summary="Add a memory",
        guards=[EDITORS],
        responses=problems(404, 409, 413, 503),
    )
    async def remember(
        self,
        persona_id: PathId,
        data: Annotated[
            NewMemoryBody,
            body_example(memory_type="semantic", text="Sam is allergic to walnuts.", pinned=True),
        ],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        embedder: NamedDependency[Embedder],
        now: NamedDependency[datetime],
    ) -> Memory:
        """Remember something at once, without a candidate and without waiting for the night."""
        return await remember(graph, embedder, caller, persona_id, as_new_memory(data), now=now)

    @get("/memories/{memory_id:str}", operation_id="get_memory", responses=problems(404))
    async def one(
        self,
        memory_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
        settings: NamedDependency[Settings],
    ) -> Memory:
        """Get one memory, archived or not."""
        return await get_memory(
            graph, caller, memory_id, now=now, badges_for_all=settings.badges_for_all
        )

    @patch(
        "/memories/{memory_id:str}",
        operation_id="change_memory",
        guards=[PEOPLE],
        responses=problems(404, 413),
    )
    async def change(
        self,
        memory_id: PathId,
        data: Annotated[MemoryChanges, body_example(pinned=True)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
        settings: NamedDependency[Settings],
    ) -> Memory:
        """Pin or unpin a memory, or change its importance, tags or project. Its text stays.

        Fields that are left out stay as they are; `"project": null` removes the project.
        """
        return await change_memory(
            graph,
            caller,
            memory_id,
            changes=given_fields(data),
            now=now,
            badges_for_all=settings.badges_for_all,
        )

    @post(
        "/memories/{memory_id:str}/minimize",
        operation_id="minimize_memory",
        guards=[PEOPLE],
        status_code=HTTP_200_OK,
        responses=problems(404, 413),
    )
    async def minimize(
        self,
        memory_id: PathId,
        data: Annotated[Minimization, body_example(weight_modifier=0.2)],
        change: NamedDependency[ItemChange],
        preview: Preview = False,
    ) -> Memory | AffectedItems:
        """Lower the weight of a memory and of its outgoing links. `restore` takes it back."""
        return await change.apply_or_preview(
            lambda graph: minimize_memory(
                graph,
                change.caller,
                memory_id,
                modifier=data.weight_modifier,
                now=change.now,
                badges_for_all=change.badges_for_all,
            ),
            effect="minimized",
            memory_id=memory_id,
            preview=preview,
        )

    @post(
        "/memories/{memory_id:str}/restore",
        operation_id="restore_memory",
        guards=[PEOPLE],
        status_code=HTTP_200_OK,
        responses=problems(404),
    )
    async def restore(self, memory_id: PathId, change: NamedDependency[ItemChange]) -> Memory:
        """Take back a minimization made by hand. What flags have lowered stays lowered."""
        return await change.apply(
            lambda graph: minimize_memory(
                graph,
                change.caller,
                memory_id,
                modifier=1.0,
                now=change.now,
                badges_for_all=change.badges_for_all,
            ),
            effect="restored",
            item_id=memory_id,
        )

    @post(
        "/memories/{memory_id:str}/archive",
        operation_id="archive_memory",
        guards=[EDITORS],
        status_code=HTTP_200_OK,
        responses=problems(404),
    )
    async def archive(
        self, memory_id: PathId, change: NamedDependency[ItemChange], preview: Preview = False
    ) -> Memory | AffectedItems:
        """Take a memory out of ordinary recall. Nothing is deleted; `unarchive` brings it back."""
        return await change.apply_or_preview(
            lambda graph: archive_memory(graph, change.caller, memory_id, now=change.now),
            effect="archived",
            memory_id=memory_id,
            preview=preview,
        )

    @post(
        "/memories/{memory_id:str}/unarchive",
        operation_id="unarchive_memory",
        guards=[EDITORS],
        status_code=HTTP_200_OK,
        responses=problems(404),
    )
    async def unarchive(self, memory_id: PathId, change: NamedDependency[ItemChange]) -> Memory:
        """Bring a memory back from the archive."""
        return await change.apply(
            lambda graph: unarchive_memory(graph, change.caller, memory_id, now=change.now),
            effect="unarchived",
            item_id=memory_id,
        )
