// Keep the names of those a persona has heard for the first time.
//
// $tenant_id  string
// $met        list of maps {persona_id, names}
CYPHER 25
UNWIND $met AS row
MATCH (persona:Persona {tenant_id: $tenant_id, id: row.persona_id})
SET persona.lock = true
REMOVE persona.lock
SET
  persona.people =
    coalesce(persona.people, []) +
    [name IN row.names WHERE NOT name IN coalesce(persona.people, [])]
