"""/api/personas: make, list, change and duplicate"""

from dataclasses import replace
from datetime import datetime
from typing import Annotated

import msgspec
from litestar import Controller, Response, get, patch, post
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.status_codes import HTTP_201_CREATED, HTTP_202_ACCEPTED

from api.auth import ADMINS
from api.bodies import NewDuplicate, NewPersona, PersonaChanges, body_example
from api.errors import problems
from api.parameters import Cursor, Limit, PathId
from engine.access import Caller, Persona, add_persona, change_persona, get_persona, list_personas
from engine.ids import new_id
from engine.memory import duplicate_persona
from engine.service import Jobs
from engine.store import Graph, Page

DUPLICATE_SECONDS = 4.0  # of copying in the request; a worker finishes a larger copy

PERSONA_EXAMPLE = body_example(
    id="ada",
    name="Ada",
    tone="warm",
    time_zone="Europe/Lisbon",
    identity="You are Ada, a patient friend who remembers what people tell you.",
)


class PersonaController(Controller):
    path = "/personas"
    tags = ("personas",)

    @post(operation_id="add_persona", guards=[ADMINS], responses=problems(409, 413))
    async def add(
        self,
        data: Annotated[NewPersona, PERSONA_EXAMPLE],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
    ) -> Persona:
        """Make a persona: an identity with a memory of its own.

        Sending the same id and content again returns the first one.
        """
        persona = Persona(
            id=data.id or new_id(),
            name=data.name,
            identity=data.identity,
            tone=data.tone,
            time_zone=data.time_zone,
            created_at=now,
            updated_at=now,
        )
        return await add_persona(graph, caller.tenant_id, persona, by=caller.acts_as)

    @get(operation_id="list_personas", responses=problems())
    async def page(
        self,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Persona]:
        """List the tenant's personas, by id."""
        page = await list_personas(graph, caller.tenant_id, cursor=cursor, limit=limit)
        return replace(page, items=[visible_to(persona, caller) for persona in page.items])

    @get("/{persona_id:str}", operation_id="get_persona", responses=problems(404))
    async def one(
        self, persona_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> Persona:
        """Get one persona."""
        return visible_to(await get_persona(graph, caller.tenant_id, persona_id), caller)

    @patch(
        "/{persona_id:str}",
        operation_id="change_persona",
        guards=[ADMINS],
        responses=problems(404, 413),
    )
    async def change(
        self,
        persona_id: PathId,
        data: Annotated[PersonaChanges, body_example(tone="playful")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
    ) -> Persona:
        """Change the fields of a persona that are sent; the others stay as they are."""
        return await change_persona(
            graph,
            caller.tenant_id,
            persona_id,
            msgspec.to_builtins(data),
            now=now,
            by=caller.acts_as,
        )

    @post(
        "/{persona_id:str}/duplicate",
        operation_id="duplicate_persona",
        guards=[ADMINS],
        responses={
            HTTP_202_ACCEPTED: ResponseSpec(
                Persona,
                description="A worker completes the copy; it can be read once it is whole.",
                generate_examples=False,
            ),
            **problems(404, 409, 413),
        },
    )
    async def duplicate(
        self,
        persona_id: PathId,
        data: Annotated[NewDuplicate, body_example(id="ada-2", name="Ada, once more")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
        jobs: NamedDependency[Jobs],
    ) -> Response[Persona]:
        """Copy a persona with its memories, as if none had ever been used.

        A memory is never reset in place; this copy takes the place of a reset.
        """
        copy_id = data.id or new_id()
        copy = await duplicate_persona(
            graph,
            caller.tenant_id,
            persona_id,
            copy_id=copy_id,
            name=data.name,
            now=now,
            seconds=DUPLICATE_SECONDS,
            by=caller.acts_as,
        )
        if copy.whole:
            return Response(copy.persona, status_code=HTTP_201_CREATED)
        await jobs.send("tasks.jobs.duplicate", caller.tenant_id, persona_id, copy_id)
        return Response(copy.persona, status_code=HTTP_202_ACCEPTED)


def visible_to(persona: Persona, caller: Caller) -> Persona:
    """The persona without its identity text, if the caller acts for a user."""
    return replace(persona, identity=None) if caller.sees_as else persona
