// Make an instance, a workspace of a tenant. Doing it twice keeps the first.
//
// $tenant_id  string
// $instance   map {id, name, created_at}
//
// Returns instance.
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})
MERGE (instance:Instance {tenant_id: $tenant_id, id: $instance.id})
  ON CREATE SET instance += $instance
MERGE (tenant)-[:OWNS]->(instance)
RETURN instance {.id, .name, .created_at} AS instance
