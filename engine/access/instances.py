"""Instances and their members. A user sees the conversations of instances they are a member of."""

from dataclasses import replace
from datetime import datetime

from engine.access.models import Caller, Instance, Member, MemberRole
from engine.errors import IdTaken, InstanceNotFound, MemberNotFound, NotFound
from engine.models import Row
from engine.store import OPERATOR, Graph, Page, audit_record, decode_id, make_page


async def add_instance(
    graph: Graph, tenant_id: str, instance: Instance, *, by: str = OPERATOR
) -> Instance:
    """Add an instance. The same one given again, with the same id, returns the first."""

    def check_added(rows: list[Row]) -> Instance:
        if not rows:
            raise NotFound(f"No tenant {tenant_id!r}.")
        stored = Instance(**rows[0]["instance"])
        if stored != replace(instance, created_at=stored.created_at):
            raise IdTaken("instance", instance.id)
        return stored

    return await graph.write_if(
        check_added,
        "access/instances/add_instance",
        tenant_id=tenant_id,
        instance={"id": instance.id, "name": instance.name, "created_at": instance.created_at},
        event=audit_record("instance_added", by=by, now=instance.created_at),
    )


async def get_instance(graph: Graph, caller: Caller, instance_id: str) -> Instance:
    """One instance, if the caller may see it."""
    rows = await graph.read(
        "access/instances/get_instance",
        tenant_id=caller.tenant_id,
        instance_id=instance_id,
        **caller.visibility,
    )
    if not rows:
        raise InstanceNotFound(instance_id)
    return Instance(**rows[0]["instance"])


async def list_instances(
    graph: Graph, caller: Caller, *, cursor: str | None = None, limit: int
) -> Page[Instance]:
    """The instances that the caller may see, by id."""
    rows = await graph.read(
        "access/instances/list_instances",
        tenant_id=caller.tenant_id,
        **caller.visibility,
        after=decode_id(cursor),
        limit=limit + 1,
    )
    instances = [Instance(**row["instance"]) for row in rows]
    return make_page(instances, limit, lambda instance: instance.id)


async def put_member(
    graph: Graph,
    tenant_id: str,
    instance_id: str,
    user_id: str,
    *,
    role: MemberRole,
    now: datetime,
    by: str = OPERATOR,
) -> Member:
    """Add a user to an instance, or change their role in it."""
    rows = await graph.write(
        "access/instances/put_member",
        tenant_id=tenant_id,
        instance_id=instance_id,
        user_id=user_id,
        role=role.value,
        since=now,
        event=audit_record("member_put", by=by, now=now),
    )
    if not rows:
        raise InstanceNotFound(instance_id)
    return member_from_row(rows[0])


async def remove_member(
    graph: Graph,
    tenant_id: str,
    instance_id: str,
    user_id: str,
    *,
    by: str = OPERATOR,
    now: datetime | None = None,
) -> None:
    """Take a user out of an instance."""
    (row,) = await graph.write(
        "access/instances/remove_member",
        tenant_id=tenant_id,
        instance_id=instance_id,
        user_id=user_id,
        event=audit_record("member_removed", by=by, now=now),
    )
    if not row["removed"]:
        raise MemberNotFound(instance_id, user_id)


async def list_members(
    graph: Graph, caller: Caller, instance_id: str, *, cursor: str | None = None, limit: int
) -> Page[Member]:
    """The members of an instance, by user, if the caller may see it."""
    await get_instance(graph, caller, instance_id)
    rows = await graph.read(
        "access/instances/list_members",
        tenant_id=caller.tenant_id,
        instance_id=instance_id,
        after=decode_id(cursor),
        limit=limit + 1,
    )
    return make_page([member_from_row(row) for row in rows], limit, lambda member: member.user_id)


def member_from_row(row: Row) -> Member:
    properties = row["member"]
    return Member(**{**properties, "role": MemberRole(properties["role"])})
