// Move the next nights of some personas, unless one has been run meanwhile.
//
// $tenant_id  string
// $nights     list of maps {persona_id, before: zoned datetime, after: zoned datetime}
CYPHER 25
UNWIND $nights AS night
MATCH (persona:Persona {tenant_id: $tenant_id, id: night.persona_id})
WHERE persona.next_night_at = night.before
SET persona.next_night_at = night.after
REMOVE persona.night_sent_at
