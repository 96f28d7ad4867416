// Record up to which version of the policy memories were made due.
//
// $tenant_id   string
// $persona_id  string
// $version     integer: a change that was made later waits for the next run
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
SET persona.reckoned_version = $version
