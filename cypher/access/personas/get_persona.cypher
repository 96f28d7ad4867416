// One persona of a tenant.
//
// $tenant_id   string
// $persona_id  string
//
// Returns persona; nothing when there is none.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.copying IS NULL
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
  } AS persona
