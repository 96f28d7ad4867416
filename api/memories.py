"""/api/personas/{id}/memories, /api/memories/{id}, its links, and what is used together"""

from typing import Annotated

from litestar import Controller, get, patch, post
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from litestar.status_codes import HTTP_200_OK
from msgspec import UNSET

from api.auth import AUDITORS, EDITORS, STAFF
from api.errors import problems
from api.wire import (
    Cursor,
    Limit,
    MemoryChanges,
    Minimizing,
    MomentAsked,
    NewLink,
    NewMemoryBody,
    PathId,
    UsedTogether,
    asked_for,
    in_utc,
    like,
)
from engine.clock import Clock
from engine.embedding import Embedder
from engine.graph import Graph
from engine.history import Record, list_audit, memory_history, message_history
from engine.memories import (
    NewMemory,
    add_link,
    archive_memory,
    change_memory,
    get_memory,
    list_links,
    list_memories,
    minimize_memory,
    remember,
    unarchive_memory,
    use_together,
)
from engine.models import (
    Caller,
    Coactivation,
    Link,
    Memory,
    MemoryState,
    MemoryType,
    Page,
)
from engine.settings import Settings


class MemoryController(Controller):
    tags = ("memories",)

    @get(
        "/personas/{persona_id:str}/memories",
        operation_id="list_memories",
        guards=[STAFF],
        responses=problems(404),
    )
    async def page(
        self,
        persona_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        memory_state: Annotated[MemoryState, QueryParameter(name="state")] = MemoryState.ACTIVE,
        memory_type: Annotated[MemoryType | None, QueryParameter(name="type")] = None,
        category: Annotated[str | None, QueryParameter(max_length=100)] = None,
        as_of: MomentAsked = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Memory]:
        """The persona's memories of one state."""
        return await list_memories(
            graph,
            caller.tenant_id,
            persona_id,
            now=await clock.now(),
            state=memory_state,
            memory_type=memory_type,
            category=category,
            held_at=asked_for(as_of),
            cursor=cursor,
            limit=limit,
        )

    @post(
        "/personas/{persona_id:str}/memories",
        operation_id="remember",
        guards=[EDITORS],
        responses=problems(404, 409, 413, 503),
    )
    async def remember(
        self,
        persona_id: PathId,
        data: Annotated[
            NewMemoryBody,
            like(memory_type="semantic", text="Sam is allergic to walnuts.", pinned=True),
        ],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        embedder: NamedDependency[Embedder],
        clock: NamedDependency[Clock],
    ) -> Memory:
        """Remember something at once, without waiting for the night."""
        new = NewMemory(
            memory_type=data.memory_type,
            text=data.text,
            content=data.content,
            source_message_ids=data.source_message_ids,
            chosen_id=data.memory_id,
            said_at=in_utc(data.said_at),
            tags=data.tags,
            project=data.project,
            importance=data.importance,
            pinned=data.pinned,
        )
        now = await clock.now()
        return await remember(graph, embedder, caller.tenant_id, persona_id, new, now=now)

    @get(
        "/memories/{memory_id:str}",
        operation_id="get_memory",
        guards=[STAFF],
        responses=problems(404),
    )
    async def one(
        self,
        memory_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
    ) -> Memory:
        """One memory, archived or not."""
        return await get_memory(graph, caller.tenant_id, memory_id, now=await clock.now())

    @patch(
        "/memories/{memory_id:str}",
        operation_id="change_memory",
        guards=[EDITORS],
        responses=problems(404, 413),
    )
    async def change(
        self,
        memory_id: PathId,
        data: Annotated[MemoryChanges, like(pinned=True)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
    ) -> Memory:
        """Pin a memory or let go of it, and say how important it is. What it says never changes."""
        return await change_memory(
            graph,
            caller.tenant_id,
            memory_id,
            pinned=None if data.pinned is UNSET else data.pinned,
            importance=None if data.importance is UNSET else data.importance,
            tags=None if data.tags is UNSET else data.tags,
            project=None if data.project is UNSET else data.project or "",
            now=await clock.now(),
        )

    @post(
        "/memories/{memory_id:str}/minimize",
        operation_id="minimize_memory",
        guards=[EDITORS],
        status_code=HTTP_200_OK,
        responses=problems(404, 413),
    )
    async def minimize(
        self,
        memory_id: PathId,
        data: Annotated[Minimizing, like(weight_modifier=0.2)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        settings: NamedDependency[Settings],
    ) -> Memory:
        """Turn a memory and its outgoing links down. Nothing is cut, and it can be restored."""
        return await minimize_memory(
            graph,
            caller,
            memory_id,
            modifier=data.weight_modifier,
            factor=settings.minimize_factor,
            now=await clock.now(),
        )

    @post(
        "/memories/{memory_id:str}/restore",
        operation_id="restore_memory",
        guards=[EDITORS],
        status_code=HTTP_200_OK,
        responses=problems(404),
    )
    async def restore(
        self,
        memory_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        settings: NamedDependency[Settings],
    ) -> Memory:
        """Take back what was minimized by hand. What a flag holds down stays so."""
        return await minimize_memory(
            graph,
            caller,
            memory_id,
            modifier=1.0,
            factor=settings.minimize_factor,
            now=await clock.now(),
        )

    @post(
        "/memories/{memory_id:str}/archive",
        operation_id="archive_memory",
        guards=[EDITORS],
        status_code=HTTP_200_OK,
        responses=problems(404),
    )
    async def archive(
        self,
        memory_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
    ) -> Memory:
        """Take a memory out of what is recalled by itself. It stays, and can come back."""
        return await archive_memory(graph, caller, memory_id, now=await clock.now())

    @post(
        "/memories/{memory_id:str}/unarchive",
        operation_id="unarchive_memory",
        guards=[EDITORS],
        status_code=HTTP_200_OK,
        responses=problems(404),
    )
    async def unarchive(
        self,
        memory_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
    ) -> Memory:
        """Bring a memory back from the archive."""
        return await unarchive_memory(graph, caller, memory_id, now=await clock.now())

    @get(
        "/memories/{memory_id:str}/history",
        operation_id="get_memory_history",
        guards=[STAFF],
        responses=problems(404),
    )
    async def history(
        self, memory_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> list[Record]:
        """What has happened to a memory, by people and by night, as one story."""
        return await memory_history(graph, caller.tenant_id, memory_id)

    @get(
        "/messages/{message_id:str}/history",
        operation_id="get_message_history",
        guards=[STAFF],
        responses=problems(404),
    )
    async def message_history(
        self, message_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> list[Record]:
        """What has happened to a message, as one story."""
        return await message_history(graph, caller, message_id)

    @get("/audit", operation_id="list_audit", guards=[AUDITORS], responses=problems())
    async def audit(
        self,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Record]:
        """Everything people changed in the tenant, the oldest first."""
        return await list_audit(graph, caller.tenant_id, cursor=cursor, limit=limit)

    @get(
        "/memories/{memory_id:str}/links",
        operation_id="list_links",
        guards=[STAFF],
        responses=problems(404),
    )
    async def links(
        self, memory_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> list[Link]:
        """The links from a memory and to it, the strongest first."""
        return await list_links(graph, caller.tenant_id, memory_id)

    @post(
        "/memories/{memory_id:str}/links",
        operation_id="add_link",
        guards=[EDITORS],
        responses=problems(404, 413),
    )
    async def link(
        self,
        memory_id: PathId,
        data: Annotated[NewLink, like(to_id="01a0", type="ENABLES", strength=0.6)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
    ) -> Link:
        """Link a memory to another of the same persona. A link that is there stays as it is."""
        return await add_link(
            graph,
            caller.tenant_id,
            memory_id,
            data.to_id,
            data.type,
            strength=data.strength,
            now=await clock.now(),
        )

    @post(
        "/personas/{persona_id:str}/coactivate",
        operation_id="coactivate",
        guards=[EDITORS],
        status_code=HTTP_200_OK,
        responses=problems(404, 413),
    )
    async def coactivate(
        self,
        persona_id: PathId,
        data: Annotated[UsedTogether, like(memory_ids=["01a0", "01a1"], use_id="turn-7")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
    ) -> Coactivation:
        """Count that memories were used together: each is accessed, and their links grow stronger.

        Told again with the same `use_id`, it counts nothing.
        """
        return await use_together(
            graph,
            caller.tenant_id,
            persona_id,
            data.memory_ids,
            use_id=data.use_id,
            now=await clock.now(),
        )
