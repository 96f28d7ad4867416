"""/api/audit, and the history of one memory or message"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, cast

from litestar import Controller, MediaType, Request, Response, get
from litestar.di import NamedDependency
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIResponse, OpenAPIType, Operation, Schema
from litestar.params import FromQuery, QueryParameter
from litestar.response import Stream

from api.auth import AUDITORS
from api.errors import problems
from api.parameters import Cursor, Limit, PathId, parse_time
from engine.access import Caller
from engine.memory import (
    AuditFilter,
    AuditRecord,
    export_audit,
    list_audit,
    memory_history,
    message_history,
)
from engine.settings import Settings
from engine.store import Graph, Page

JSON_LINES = "application/x-ndjson"

FromTime = Annotated[
    str | None,
    QueryParameter(
        name="from", max_length=40, format="date-time", description="At this time or later."
    ),
]
ToTime = Annotated[
    str | None,
    QueryParameter(name="to", max_length=40, format="date-time", description="Before this time."),
]
Actor = Annotated[
    str | None, QueryParameter(max_length=200, description="Only what this actor did.")
]
Action = Annotated[
    str | None, QueryParameter(max_length=100, description="Only this kind of change.")
]


class AuditFormat(StrEnum):
    JSON = "json"
    JSONL = "jsonl"


@dataclass
class AuditOperation(Operation):
    """Names JSON lines as the second media type of the audit in the OpenAPI document."""

    def __post_init__(self) -> None:
        response = (self.responses or {})["200"]
        if isinstance(response, OpenAPIResponse) and response.content is not None:
            lines = Schema(type=OpenAPIType.STRING, description="One record on each line.")
            response.content[JSON_LINES] = OpenAPIMediaType(schema=lines)


def wants_json_lines(request: Request[Any, Any, Any], format_: AuditFormat | None) -> bool:
    """Whether `format`, or without one the Accept header, asks for JSON lines."""
    if format_ is None:
        return JSON_LINES in request.headers.get("Accept", "")
    return format_ is AuditFormat.JSONL


class AuditController(Controller):
    tags = ("audit",)

    @get(
        "/memories/{memory_id:str}/history",
        operation_id="get_memory_history",
        responses=problems(404),
    )
    async def memory_history(
        self,
        memory_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        settings: NamedDependency[Settings],
    ) -> list[AuditRecord]:
        """Everything that happened to a memory, through people and through the nights.

        The newest 500 records; the persona's newest 2,000 run steps are searched for them.
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
        """Everything that happened to a message: the newest 500 records."""
        return await message_history(
            graph, caller, message_id, badges_for_all=settings.badges_for_all
        )

    @get(
        "/audit",
        operation_id="list_audit",
        summary="List the audit log",
        operation_class=AuditOperation,
        guards=[AUDITORS],
        responses=problems(),
    )
    async def audit(
        self,
        request: Request[Any, Any, Any],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        from_time: FromTime = None,
        to_time: ToTime = None,
        actor: Actor = None,
        action: Action = None,
        format: FromQuery[AuditFormat | None] = None,  # noqa: A002
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Response[Page[AuditRecord]]:
        """Everything that people changed in the tenant, in the order it took effect.

        With `format=jsonl`, or `Accept: application/x-ndjson`, the answer is the whole log as JSON
        lines; `limit` and `cursor` are then ignored.
        """
        filters = AuditFilter(parse_time(from_time), parse_time(to_time), actor, action)
        if wants_json_lines(request, format):
            lines = Stream(
                export_audit(graph, caller.tenant_id, filters),
                media_type=JSON_LINES,
                headers={"Content-Disposition": 'attachment; filename="audit.jsonl"'},
            )
            return cast("Response[Page[AuditRecord]]", lines)
        page = await list_audit(graph, caller.tenant_id, filters, cursor=cursor, limit=limit)
        return Response(page, media_type=MediaType.JSON)
