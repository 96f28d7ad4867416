"""Tenants. Operators add them from the command line: no route reaches more than one tenant."""

from datetime import datetime

from engine.access.models import Tenant
from engine.store import Graph


async def add_tenant(graph: Graph, tenant_id: str, *, name: str, now: datetime) -> Tenant:
    """Add a tenant; if its id exists, return it unchanged."""
    (row,) = await graph.write(
        "access/tenants/add_tenant", tenant={"id": tenant_id, "name": name, "created_at": now}
    )
    return Tenant(**row)


async def list_tenants(graph: Graph) -> list[Tenant]:
    """All tenants of this deployment."""
    return [Tenant(**row) for row in await graph.read("access/tenants/list_tenants")]
