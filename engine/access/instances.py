"""Instances and their members: who may see which conversations."""

from dataclasses import replace
from datetime import datetime

from engine.access.models import Caller, Instance, Member, MemberRole
from engine.errors import IdTaken, InstanceNotFound, MemberNotFound, NotFound
from engine.models import Row
from engine.store import OPERATOR, Graph, Page, audit_record, decode_id, make_page


async def add_instance(
    graph: Graph, tenant_id: str, instance: Instance, *, by: str = OPERATOR
) -> Instance:
    """Make an instance. Asking again with the same id and content finds the first."""

    def as_made(rows: list[Row]) -> Instance:
        if not rows:
            raise NotFound(f"No tenant {tenant_id!r}.")
        stored = Instance(**rows[0]["instance"])
        if stored != replace(instance, created_at=stored.created_at):
            raise IdTaken("instance", instance.id)
        return stored

    return await graph.write_if(
        as_made,
        "access/instances/add_instance",
        tenant_id=tenant_id,
        instance={"id": instance.id, "name": instance.name, "created_at": instance.created_at},
        event=audit_record("instance_added", by=by, now=instance.created_at),
    )


async def get_instance(graph: Graph, caller: Caller, instance_id: str) -> Instance:
    found = await graph.read(
        "access/instances/get_instance",
        tenant_id=caller.tenant_id,
        instance_id=instance_id,
        **caller.visibility,
    )
    if not found:
        raise InstanceNotFound(instance_id)
    return Instance(**found[0]["instance"])


async def list_instances(
    graph: Graph, caller: Caller, *, cursor: str | None = None, limit: int
) -> Page[Instance]:
    rows = await graph.read(
        "access/instances/list_instances",
        tenant_id=caller.tenant_id,
        **caller.visibility,
        after=decode_id(cursor),
        limit=limit + 1,
    )
    found = [Instance(**row["instance"]) for row in rows]
    return make_page(found, limit, lambda instance: instance.id)


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
    """Let a user into an instance, or change what they are there."""
    found = await graph.write(
        "access/instances/put_member",
        tenant_id=tenant_id,
        instance_id=instance_id,
        user_id=user_id,
        role=role.value,
        since=now,
        event=audit_record("member_put", by=by, now=now),
    )
    if not found:
        raise InstanceNotFound(instance_id)
    return as_member(found[0])


async def remove_member(
    graph: Graph,
    tenant_id: str,
    instance_id: str,
    user_id: str,
    *,
    by: str = OPERATOR,
    now: datetime | None = None,
) -> None:
    (answer,) = await graph.write(
        "access/instances/remove_member",
        tenant_id=tenant_id,
        instance_id=instance_id,
        user_id=user_id,
        event=audit_record("member_removed", by=by, now=now),
    )
    if not answer["removed"]:
        raise MemberNotFound(instance_id, user_id)


async def list_members(
    graph: Graph, caller: Caller, instance_id: str, *, cursor: str | None = None, limit: int
) -> Page[Member]:
    await get_instance(graph, caller, instance_id)
    rows = await graph.read(
        "access/instances/list_members",
        tenant_id=caller.tenant_id,
        instance_id=instance_id,
        after=decode_id(cursor),
        limit=limit + 1,
    )
    return make_page([as_member(row) for row in rows], limit, lambda member: member.user_id)


def as_member(row: Row) -> Member:
    stored = row["member"]
    return Member(**{**stored, "role": MemberRole(stored["role"])})
