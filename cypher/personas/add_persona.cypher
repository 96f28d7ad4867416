// Make a persona. Doing it twice keeps the first, and returns it for comparison.
//
// $tenant_id  string
// $persona    map {id, name, identity, tone, time_zone, created_at, updated_at, next_night_at}
//
// Returns persona; copying: whether it is one that is being made by copying another.
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})
MERGE (persona:Persona {tenant_id: $tenant_id, id: $persona.id})
  ON CREATE SET persona += $persona
MERGE (tenant)-[:OWNS]->(persona)
RETURN
  persona {
    .id,
    .name,
    .identity,
    .tone,
    .time_zone,
    .created_at,
    .updated_at
  } AS persona,
  persona.copying IS NOT NULL AS copying
