"""/api/instances and their members"""

from datetime import datetime
from typing import Annotated

from litestar import Controller, delete, get, post, put
from litestar.di import NamedDependency

from api.auth import ADMINS
from api.bodies import Membership, NewInstance, body_example
from api.errors import problems
from api.parameters import Cursor, Limit, NewUserId, PathId
from engine.access import (
    Caller,
    Instance,
    Member,
    add_instance,
    get_instance,
    list_instances,
    list_members,
    put_member,
    remove_member,
)
from engine.ids import new_id
from engine.store import Graph, Page


class InstanceController(Controller):
    path = "/instances"
    tags = ("instances",)

    @post(operation_id="add_instance", guards=[ADMINS], responses=problems(409, 413))
    async def add(
        self,
        data: Annotated[NewInstance, body_example(id="studio", name="Studio")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
    ) -> Instance:
        """Make an instance: a place with members, in which conversations are held.

        Sending the same id and content again returns the first one.
        """
        instance = Instance(data.id or new_id(), data.name, now)
        return await add_instance(graph, caller.tenant_id, instance, by=caller.acts_as)

    @get(operation_id="list_instances", responses=problems())
    async def page(
        self,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Instance]:
        """List the tenant's instances. A user sees those they are a member of."""
        return await list_instances(graph, caller, cursor=cursor, limit=limit)

    @get("/{instance_id:str}", operation_id="get_instance", responses=problems(404))
    async def one(
        self, instance_id: PathId, caller: NamedDependency[Caller], graph: NamedDependency[Graph]
    ) -> Instance:
        """Get one instance. For a user who is not a member it does not exist."""
        return await get_instance(graph, caller, instance_id)

    @get("/{instance_id:str}/members", operation_id="list_members", responses=problems(404))
    async def members(
        self,
        instance_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Page[Member]:
        """List the members of an instance."""
        return await list_members(graph, caller, instance_id, cursor=cursor, limit=limit)

    @put(
        "/{instance_id:str}/members/{user_id:str}",
        operation_id="put_member",
        summary="Add or change a member",
        guards=[ADMINS],
        responses=problems(404, 413),
    )
    async def admit(
        self,
        instance_id: PathId,
        user_id: NewUserId,
        data: Annotated[Membership, body_example(role="member")],
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
    ) -> Member:
        """Make a user a member of an instance, or change their role in it."""
        return await put_member(
            graph,
            caller.tenant_id,
            instance_id,
            user_id,
            role=data.role,
            now=now,
            by=caller.acts_as,
        )

    @delete(
        "/{instance_id:str}/members/{user_id:str}",
        operation_id="remove_member",
        guards=[ADMINS],
        responses=problems(404),
    )
    async def dismiss(
        self,
        instance_id: PathId,
        user_id: PathId,
        caller: NamedDependency[Caller],
        graph: NamedDependency[Graph],
        now: NamedDependency[datetime],
    ) -> None:
        """Remove a user from an instance."""
        await remove_member(
            graph, caller.tenant_id, instance_id, user_id, by=caller.acts_as, now=now
        )
