// Make a persona. Doing it twice keeps the first, and returns it for comparison.
//
// $tenant_id  string
// $persona    map {id, name, identity, tone, time_zone, created_at, updated_at, next_night_at}
// $event      map {id, action, by, at}
//
// Returns persona; copying: whether it is still being made by copying another.
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})
MERGE (persona:Persona {tenant_id: $tenant_id, id: $persona.id})
  ON CREATE SET
    persona += $persona,
    persona.new = true
MERGE (tenant)-[:OWNS]->(persona)
FOREACH (once IN CASE WHEN persona.new THEN [1] ELSE [] END |
  CREATE
    (event:Event {tenant_id: $tenant_id, written_at: datetime.realtime(), after: persona.name})
      -[:ABOUT]->(persona)
  SET event += $event
)
REMOVE persona.new
RETURN
  persona {
    // fragment: persona_properties
    .id,
    .name,
    .identity,
    .tone,
    .time_zone,
    .created_at,
    .updated_at
    // end: persona_properties
  } AS persona,
  persona.copying IS NOT NULL AS copying
