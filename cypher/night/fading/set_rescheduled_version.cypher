// Record up to which change of the policy the memories of a persona were rescheduled.
//
// $tenant_id   string
// $persona_id  string
// $version     integer: a change that was made later waits for the next run
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
SET persona.rescheduled_version = $version
