"""/api/personas/{id}/memories, /api/memories/{id}, its links, and what is used together"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, cast

from litestar import Controller, MediaType, Request, Response, get, patch, post
from litestar.di import NamedDependency
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIResponse, OpenAPIType, Operation, Schema
from litestar.params import FromQuery, QueryParameter
from litestar.response import Stream
from litestar.status_codes import HTTP_200_OK
from redis.asyncio import Redis

from api.auth import AUDITORS, EDITORS, PEOPLE
from api.bodies import (
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
    like,
    named,
    said_at,
)
from api.errors import problems
from api.preview import Preview, touched_by
from engine.access import Caller
from engine.embedding import Embedder
from engine.forgetting import AffectedItems
from engine.memory import (
    AuditFilter,
    AuditRecord,
    Coactivation,
    Link,
    Memory,
    MemoryState,
    NewMemory,
    add_link,
    archive_memory,
    change_memory,
    coactivate,
    export_audit,
    get_memory,
    list_audit,
    list_links,
    list_memories,
    memory_history,
    message_history,
    minimize_memory,
    remember,
    unarchive_memory,
)
from engine.models import MemoryType
from engine.service import Clock
from engine.settings import Settings
from engine.store import Graph, Page
from engine.talk import record_effect

JSON_LINES = "application/x-ndjson"


class AuditFormat(StrEnum):
    JSON = "json"
    JSONL = "jsonl"


@dataclass
class AuditOperation(Operation):
    """Says in the OpenAPI document that the audit can be had as JSON lines too."""

    def __post_init__(self) -> None:
        answer = (self.responses or {})["200"]
        if isinstance(answer, OpenAPIResponse) and answer.content is not None:
            a_line = Schema(type=OpenAPIType.STRING, description="One record a line.")
            answer.content[JSON_LINES] = OpenAPIMediaType(schema=a_line)


def accepts_lines(request: Request[Any, Any, Any]) -> bool:
    return JSON_LINES in request.headers.get("Accept", "")


class MemoryController(Controller):
    tags = ("memories",)

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
        clock: NamedDependency[Clock],
        settings: NamedDependency[Settings],
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
            caller,
            persona_id,
            now=await clock.now(),
            state=memory_state,
            memory_type=memory_type,
            category=category,
            held_at=asked_for(as_of),
            cursor=cursor,
            limit=limit,
            badges_for_all=settings.badges_for_all,
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
            said_at=said_at(data.said_at) if data.said_at else None,
            tags=data.tags,
            project=data.project,
            importance=data.importance,
            pinned=data.pinned,
        )
        now = await clock.now()
        return await remember(graph, embedder, caller, persona_id, new, now=now)

    @get(
        "/memories/{memory_id:str}",
        operation_id="get_memory",
        responses=problems(404),
    )
    async def one(
        self,
        memory_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        settings: NamedDependency[Settings],
    ) -> Memory:
        """One memory, archived or not."""
        return await get_memory(
            graph,
            caller,
            memory_id,
            now=await clock.now(),
            badges_for_all=settings.badges_for_all,
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
        data: Annotated[MemoryChanges, like(pinned=True)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        settings: NamedDependency[Settings],
    ) -> Memory:
        """Pin a memory or let go of it, and say how important it is. What it says never changes.

        What the body does not name stays as it is; a project of null takes it out of its project.
        """
        return await change_memory(
            graph,
            caller,
            memory_id,
            changes=named(data),
            now=await clock.now(),
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
        data: Annotated[Minimizing, like(weight_modifier=0.2)],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        redis: NamedDependency[Redis],
        settings: NamedDependency[Settings],
        preview: Preview = False,
    ) -> Memory | AffectedItems:
        """Turn a memory and its outgoing links down. Nothing is cut, and it can be restored."""
        now = await clock.now()

        async def minimize(there: Graph) -> Memory:
            return await minimize_memory(
                there,
                caller,
                memory_id,
                modifier=data.weight_modifier,
                now=now,
                badges_for_all=settings.badges_for_all,
            )

        if preview:
            return await graph.preview(lambda there: touched_by(there, caller, minimize))
        memory = await minimize(graph)
        await record_effect(graph, redis, caller, "minimized", [memory_id], now=now)
        return memory

    @post(
        "/memories/{memory_id:str}/restore",
        operation_id="restore_memory",
        guards=[PEOPLE],
        status_code=HTTP_200_OK,
        responses=problems(404),
    )
    async def restore(
        self,
        memory_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        redis: NamedDependency[Redis],
        settings: NamedDependency[Settings],
    ) -> Memory:
        """Take back what was minimized by hand. What a flag holds down stays so."""
        now = await clock.now()
        memory = await minimize_memory(
            graph,
            caller,
            memory_id,
            modifier=1.0,
            now=now,
            badges_for_all=settings.badges_for_all,
        )
        await record_effect(graph, redis, caller, "restored", [memory_id], now=now)
        return memory

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
        redis: NamedDependency[Redis],
        preview: Preview = False,
    ) -> Memory | AffectedItems:
        """Take a memory out of what is recalled by itself. It stays, and can come back."""
        now = await clock.now()

        async def archive(there: Graph) -> Memory:
            return await archive_memory(there, caller, memory_id, now=now)

        if preview:
            return await graph.preview(lambda there: touched_by(there, caller, archive))
        memory = await archive(graph)
        await record_effect(graph, redis, caller, "archived", [memory_id], now=now)
        return memory

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
        redis: NamedDependency[Redis],
    ) -> Memory:
        """Bring a memory back from the archive."""
        now = await clock.now()
        memory = await unarchive_memory(graph, caller, memory_id, now=now)
        await record_effect(graph, redis, caller, "unarchived", [memory_id], now=now)
        return memory

    @get(
        "/memories/{memory_id:str}/history",
        operation_id="get_memory_history",
        responses=problems(404),
    )
    async def history(
        self,
        memory_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        settings: NamedDependency[Settings],
    ) -> list[AuditRecord]:
        """What has happened to a memory, by people and by night, as one story.

        The newest 500 of it. The newest 2,000 steps of the persona's runs are looked at.
        """
        return await memory_history(
            graph, caller, memory_id, badges_for_all=settings.badges_for_all
        )

    @get(
        "/messages/{message_id:str}/history",
        operation_id="get_message_history",
        responses=problems(404),
    )
    async def message_history(
        self,
        message_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        settings: NamedDependency[Settings],
    ) -> list[AuditRecord]:
        """What has happened to a message, as one story: the newest 500 of it."""
        return await message_history(
            graph, caller, message_id, badges_for_all=settings.badges_for_all
        )

    @get(
        "/audit",
        operation_id="list_audit",
        operation_class=AuditOperation,
        guards=[AUDITORS],
        responses=problems(),
    )
    async def audit(
        self,
        request: Request[Any, Any, Any],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        from_time: Annotated[
            str | None,
            QueryParameter(
                name="from", max_length=40, format="date-time", description="Done then or later."
            ),
        ] = None,
        to_time: Annotated[
            str | None,
            QueryParameter(
                name="to", max_length=40, format="date-time", description="Done before."
            ),
        ] = None,
        actor: Annotated[str | None, QueryParameter(max_length=200)] = None,
        action: Annotated[str | None, QueryParameter(max_length=100)] = None,
        format: FromQuery[AuditFormat | None] = None,  # noqa: A002
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Response[Page[AuditRecord]]:
        """Everything people changed in the tenant, in the order in which it took effect.

        With `format=jsonl`, or when `application/x-ndjson` is what is accepted, all of it as JSON
        lines, whatever `limit` and `cursor` say.
        """
        which = AuditFilter(asked_for(from_time), asked_for(to_time), actor, action)
        if format is AuditFormat.JSONL or (format is None and accepts_lines(request)):
            lines = Stream(
                export_audit(graph, caller.tenant_id, which),
                media_type=JSON_LINES,
                headers={"Content-Disposition": 'attachment; filename="audit.jsonl"'},
            )
            return cast("Response[Page[AuditRecord]]", lines)
        found = await list_audit(graph, caller.tenant_id, which, cursor=cursor, limit=limit)
        return Response(found, media_type=MediaType.JSON)

    @get(
        "/memories/{memory_id:str}/links",
        operation_id="list_links",
        responses=problems(404),
    )
    async def links(
        self, memory_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> list[Link]:
        """The links from a memory and to it, the strongest first."""
        return await list_links(graph, caller, memory_id)

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
            caller,
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
        return await coactivate(
            graph,
            caller,
            persona_id,
            data.memory_ids,
            use_id=data.use_id,
            now=await clock.now(),
        )
