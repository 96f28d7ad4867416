// The policy that has changed is reckoned with.
//
// $tenant_id   string
// $persona_id  string
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
REMOVE persona.reckon
