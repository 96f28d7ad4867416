// Change what was named of a persona, and nothing else.
//
// $tenant_id   string
// $persona_id  string
// $changes     map, any of {name, identity, tone, time_zone, updated_at, next_night_at}
//
// Returns persona; nothing when there is none.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.copying IS NULL
SET persona += $changes
RETURN
  persona {
    .id,
    .name,
    .identity,
    .tone,
    .time_zone,
    .created_at,
    .updated_at
  } AS persona
