// Make an instance, a workspace of a tenant. Doing it twice keeps the first.
//
// $tenant_id  string
// $instance   map {id, name, created_at}
// $event      map {id, action, by, at}
//
// Returns instance.
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})
MERGE (instance:Instance {tenant_id: $tenant_id, id: $instance.id})
  ON CREATE SET
    instance += $instance,
    instance.new = true
MERGE (tenant)-[:OWNS]->(instance)
FOREACH (once IN CASE WHEN instance.new THEN [1] ELSE [] END |
  CREATE
    (event:Event {
      tenant_id: $tenant_id,
      written_at: datetime.realtime(),
      after: instance.name
    })
      -[:ABOUT]->(instance)
  SET event += $event
)
REMOVE instance.new
RETURN instance {.id, .name, .created_at} AS instance
