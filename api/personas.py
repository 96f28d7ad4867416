"""/api/personas"""

from dataclasses import replace
from typing import Annotated

import msgspec
from litestar import Controller, Response, get, patch, post
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.status_codes import HTTP_201_CREATED, HTTP_202_ACCEPTED

from api.auth import ADMINS
from api.bodies import Cursor, Limit, NewDuplicate, NewPersona, PathId, PersonaChanges, like
from api.errors import problems
from engine.access import Caller, Persona, add_persona, change_persona, get_persona, list_personas
from engine.ids import new_id
from engine.memory import duplicate_persona
from engine.service import Clock, Jobs
from engine.store import Graph, Page

WAITS = 4.0  # seconds a caller waits for a copy; a worker goes on with a larger one


class PersonaController(Controller):
    path = "/personas"
    tags = ("personas",)

    @post(operation_id="add_persona", guards=[ADMINS], responses=problems(409, 413))
    async def add(
        self,
        data: Annotated[
            NewPersona,
            like(id="ada", name="Ada", tone="warm", time_zone="Europe/Lisbon", identity="You are…"),
        ],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
    ) -> Persona:
        """Make a persona. Sending the same id and content again finds the first."""
        now = await clock.now()
        persona = Persona(
            id=data.id or new_id(),
            name=data.name,
            identity=data.identity,
            tone=data.tone,
            time_zone=data.time_zone,
            created_at=now,
            updated_at=now,
        )
        return await add_persona(
            graph,
            caller.tenant_id,
            persona,
            by=caller.acts_as,
        )

    @get(operation_id="list_personas", responses=problems())
    async def page(
        self,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Persona]:
        """The tenant's personas, by id."""
        found = await list_personas(graph, caller.tenant_id, cursor=cursor, limit=limit)
        return replace(found, items=[as_seen(persona, caller) for persona in found.items])

    @get("/{persona_id:str}", operation_id="get_persona", responses=problems(404))
    async def one(
        self, persona_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> Persona:
        """One persona."""
        return as_seen(await get_persona(graph, caller.tenant_id, persona_id), caller)

    @patch(
        "/{persona_id:str}",
        operation_id="change_persona",
        guards=[ADMINS],
        responses=problems(404, 413),
    )
    async def change(
        self,
        persona_id: PathId,
        data: Annotated[PersonaChanges, like(tone="playful")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
    ) -> Persona:
        """Change what is sent of a persona, and nothing else."""
        return await change_persona(
            graph,
            caller.tenant_id,
            persona_id,
            msgspec.to_builtins(data),
            now=await clock.now(),
            by=caller.acts_as,
        )

    @post(
        "/{persona_id:str}/duplicate",
        operation_id="duplicate_persona",
        guards=[ADMINS],
        responses={
            HTTP_202_ACCEPTED: ResponseSpec(
                Persona,
                description="The copy is being made. It is there, whole, when it can be read.",
                generate_examples=False,
            ),
            **problems(404, 409, 413),
        },
    )
    async def duplicate(
        self,
        persona_id: PathId,
        data: Annotated[NewDuplicate, like(id="ada-2", name="Ada, once more")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        clock: NamedDependency[Clock],
        jobs: NamedDependency[Jobs],
    ) -> Response[Persona]:
        """Make another persona with the same memories and none of their use: the only reset."""
        copy_id = data.id or new_id()
        copy = await duplicate_persona(
            graph,
            caller.tenant_id,
            persona_id,
            copy_id=copy_id,
            name=data.name,
            now=await clock.now(),
            seconds=WAITS,
            by=caller.acts_as,
        )
        if copy.whole:
            return Response(copy.persona, status_code=HTTP_201_CREATED)
        await jobs.send("tasks.jobs.duplicate", caller.tenant_id, persona_id, copy_id)
        return Response(copy.persona, status_code=HTTP_202_ACCEPTED)


def as_seen(persona: Persona, caller: Caller) -> Persona:
    """People meet the persona; what it is told about itself is between it and its makers."""
    return replace(persona, identity=None) if caller.sees_as else persona
