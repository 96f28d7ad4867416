"""/api/identities: forgotten shapes under the contract that Atamaia publishes for them.

Its names are in camelCase, every answer stands in an envelope, and everything has a number and a
GUID. An identity is a persona.
"""

import re
from collections.abc import Callable
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Generic, Literal, TypeVar
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from litestar import Controller, Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import QueryParameter
from msgspec import Struct

from api.application import request_id
from api.auth import EDITORS
from api.bodies import Body, Experience, Residue, TemporalMarker, body_example
from api.errors import HANDLERS, Problem, problem_response, problems
from api.parameters import Cursor, Limit, PathId
from engine.access import Caller
from engine.embedding import Embedder
from engine.errors import Unauthenticated
from engine.ids import LARGEST_NUMBER, id_from, number_from
from engine.memory import MemoryState, NewShape, Shape, create_shape, list_shapes
from engine.store import Graph, Page

T = TypeVar("T")
AnyRequest = Request[Any, Any, Any]
MADE_ID = re.compile(r"[0-9a-f]{32}")  # an id that the engine has made is a GUID without dashes


class Envelope(Struct, Generic[T], frozen=True, rename="camel"):
    """What every answer that is no error stands in."""

    ok: bool
    request_id: str
    data: T
    count: int  # how many things `data` has
    error: str | None = None
    error_code: str | None = None
    hint: str | None = None


class EnvelopedProblem(Problem, frozen=True, kw_only=True):
    """What went wrong: a problem, with the fields of the envelope beside its own."""

    ok: bool = False
    envelope_request_id: str = msgspec.field(name="requestId")
    data: None = None
    error: str
    error_code: str = msgspec.field(name="errorCode")
    hint: str | None = None


class ContractShape(Struct, frozen=True, rename="camel"):
    """A forgotten shape's record of what it is like that something is missing."""

    id: int
    guid: UUID
    identity_id: int | str
    memory_id: int
    connected_themes: str
    felt_absence: str
    emotional_residue: float
    temporal_marker: str
    sense_of_loss: str
    decayed_at: datetime | None
    created_at_utc: datetime


class ContractMemory(Struct, frozen=True, rename="camel"):
    """The memory that a forgotten shape is."""

    id: int
    guid: UUID
    identity_id: int | str
    title: str
    content: str
    memory_type: Literal["ForgottenShape"]
    importance: int
    is_archived: bool
    access_count: int
    created_at_utc: datetime


class NewContractShape(Body, frozen=True, rename="camel"):
    """A forgotten shape that is added by hand, in the names of the contract."""

    connected_themes: Experience
    felt_absence: Experience
    emotional_residue: Residue = 0.0
    temporal_marker: TemporalMarker = ""
    sense_of_loss: Experience = ""
    guid: (
        Annotated[
            UUID,
            msgspec.Meta(description="Chosen by the caller; the same one sent twice is once."),
        ]
        | None
    ) = None


def guid_of(tenant_id: str, id_: str) -> UUID:
    """The GUID of an id. Of one that the engine made, or that was given as a GUID, the same."""
    made = MADE_ID.fullmatch(id_)
    return UUID(hex=id_ if made else id_from("guid", tenant_id, id_))


def identity_id(persona_id: str) -> int | str:
    """What the path calls the identity: a number where the persona's id is one, as published."""
    is_number = persona_id.isascii() and persona_id.isdecimal() and persona_id[0] != "0"
    if is_number and len(persona_id) <= 16 and int(persona_id) <= LARGEST_NUMBER:
        return int(persona_id)
    return persona_id


def as_contract_shape(tenant_id: str, shape: Shape) -> ContractShape:
    number = number_from(tenant_id, shape.shape_id)
    return ContractShape(
        id=number,
        guid=guid_of(tenant_id, shape.shape_id),
        identity_id=identity_id(shape.persona_id),
        memory_id=number,
        connected_themes=shape.connected_themes,
        felt_absence=shape.felt_absence,
        emotional_residue=shape.emotional_residue,
        temporal_marker=shape.temporal_marker,
        sense_of_loss=shape.sense_of_loss,
        decayed_at=shape.decayed_at,
        created_at_utc=shape.formed_at,
    )


def as_contract_memory(tenant_id: str, shape: Shape) -> ContractMemory:
    return ContractMemory(
        id=number_from(tenant_id, shape.shape_id),
        guid=guid_of(tenant_id, shape.shape_id),
        identity_id=identity_id(shape.persona_id),
        title=shape.title,
        content=shape.text,
        memory_type="ForgottenShape",
        importance=shape.importance,
        is_archived=shape.state is MemoryState.ARCHIVED,
        access_count=shape.access_count,
        created_at_utc=shape.formed_at,
    )


def list_envelope(
    request: AnyRequest, page: Page[Shape], as_contract: Callable[[str, Shape], T]
) -> Response[Envelope[list[T]]]:
    """A page in its envelope. The header `Link` has the address of the next page."""
    data = [as_contract(request.user.tenant_id, shape) for shape in page.items]
    headers = {}
    if page.next_cursor:
        query = urlencode({**request.query_params, "cursor": page.next_cursor})
        headers["Link"] = f'<{request.url.path}?{query}>; rel="next"'
    return Response(
        Envelope(True, request_id(request.scope), data, len(data)),
        headers=headers,
    )


def in_envelope(
    handler: Callable[[AnyRequest, Any], Response[Problem]],
) -> Callable[[AnyRequest, Any], Response[Problem]]:
    """A handler of errors whose problems have the fields of the envelope too."""

    def handle(request: AnyRequest, error: Exception) -> Response[Problem]:
        response = handler(request, error)
        if isinstance(error, Unauthenticated):  # the same everywhere, whatever is asked for
            return response
        problem = response.content
        enveloped = EnvelopedProblem(
            **msgspec.structs.asdict(problem),
            envelope_request_id=problem.request_id,
            error=problem.detail,
            error_code=HTTPStatus(problem.status).name,
        )
        return problem_response(enveloped, **response.headers)

    return handle


refusals = partial(problems, kind=EnvelopedProblem)


class ContractController(Controller):
    path = "/identities/{identity_id:str}"
    tags = ("published contract",)
    exception_handlers = {  # noqa: RUF012
        kind: in_envelope(handler)  # type: ignore[arg-type]
        for kind, handler in HANDLERS.items()
    }

    @get("/shapes", operation_id="list_contract_shapes", responses=refusals(404))
    async def shapes(
        self,
        identity_id: PathId,
        request: AnyRequest,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Response[Envelope[list[ContractShape]]]:
        """List the forgotten shapes of an identity, the newest first."""
        page = await list_shapes(graph, caller, identity_id, cursor=cursor, limit=limit)
        return list_envelope(request, page, as_contract_shape)

    @post(
        "/shapes",
        operation_id="add_contract_shape",
        summary="Add a shape to an identity",
        guards=[EDITORS],
        responses=refusals(404, 409, 413, 503),
    )
    async def add(
        self,
        identity_id: PathId,
        data: Annotated[
            NewContractShape,
            body_example(
                connectedThemes="boats, a harbour",
                feltAbsence="Somebody used to wave from the quay, and you cannot say who.",
                emotionalResidue=0.6,
                temporalMarker="in some summer",
                senseOfLoss="it mattered",
                guid="0f4c2a9e-7d1b-4c8e-9a55-3b6f21d0c7e4",
            ),
        ],
        request: AnyRequest,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        embedder: NamedDependency[Embedder],
        now: NamedDependency[datetime],
    ) -> Envelope[ContractShape]:
        """Add a forgotten shape by hand. It is the same kind as one that a night draws."""
        new = NewShape(
            connected_themes=data.connected_themes,
            felt_absence=data.felt_absence,
            emotional_residue=data.emotional_residue,
            temporal_marker=data.temporal_marker,
            sense_of_loss=data.sense_of_loss,
            chosen_id=data.guid.hex if data.guid else None,
        )
        shape = await create_shape(graph, embedder, caller, identity_id, new, now=now)
        made = as_contract_shape(caller.tenant_id, shape)
        return Envelope(True, request_id(request.scope), made, 1)

    @get("/memories", operation_id="list_contract_memories", responses=refusals(404))
    async def memories(
        self,
        identity_id: PathId,
        request: AnyRequest,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        memory_type: Annotated[
            Literal["ForgottenShape"], QueryParameter(name="type")
        ] = "ForgottenShape",
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Response[Envelope[list[ContractMemory]]]:
        """List the forgotten shapes of an identity as memories: those that are not archived.

        The contract is kept for shapes alone; `/api/personas/{id}/memories` has all memories.
        """
        page = await list_shapes(
            graph, caller, identity_id, state=MemoryState.ACTIVE, cursor=cursor, limit=limit
        )
        return list_envelope(request, page, as_contract_memory)
