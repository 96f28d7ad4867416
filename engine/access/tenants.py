"""Tenants are made by operators, from the command line: there is no route that reaches two."""

from datetime import datetime

from engine.access.models import Tenant
from engine.store import Graph


async def add_tenant(graph: Graph, tenant_id: str, *, name: str, now: datetime) -> Tenant:
    """Make a tenant, or find it as it was made."""
    (row,) = await graph.write(
        "access/tenants/add_tenant", tenant={"id": tenant_id, "name": name, "created_at": now}
    )
    return Tenant(**row)


async def list_tenants(graph: Graph) -> list[Tenant]:
    return [Tenant(**row) for row in await graph.read("access/tenants/list_tenants")]
