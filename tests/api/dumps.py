"""The whole graph of a tenant as a value that can be compared."""

from typing import Any

from engine.store.graph import Graph
from engine.store.values import to_python

NODES = """
    CYPHER 25
    MATCH (node)
    WHERE
      node.tenant_id = $tenant_id OR
      (node:Tenant AND node.id = $tenant_id) OR
      node:Clock
    RETURN elementId(node) AS id, labels(node) AS labels, properties(node) AS properties
"""
LINKS = """
    CYPHER 25
    MATCH (node)-[link]-()
    WHERE node.tenant_id = $tenant_id OR (node:Tenant AND node.id = $tenant_id)
    RETURN DISTINCT
      elementId(link) AS id,
      type(link) AS type,
      elementId(startNode(link)) AS source,
      elementId(endNode(link)) AS target,
      properties(link) AS properties
"""


async def dump(graph: Graph, tenant_id: str) -> dict[str, Any]:
    """Every node and relationship of a tenant by its id, with all its labels and properties."""
    by_id: dict[str, Any] = {}
    async with graph._driver.session(database=graph._database) as session:
        for statement in (NODES, LINKS):
            async for record in await session.run(statement, tenant_id=tenant_id):
                row = {key: to_python(record[key]) for key in record.keys()}  # noqa: SIM118
                row.get("labels", []).sort()
                by_id[row.pop("id")] = row
    return by_id
