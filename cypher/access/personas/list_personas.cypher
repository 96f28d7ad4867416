// The personas of a tenant, by id. The index of the uniqueness constraint has this order.
//
// $tenant_id  string
// $after      string, the last id of the previous page, or ''
// $limit      integer
//
// Returns persona.
CYPHER 25
MATCH (persona:Persona)
WHERE persona.tenant_id = $tenant_id AND persona.id > $after AND persona.copying IS NULL
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
ORDER BY persona.id
LIMIT $limit
