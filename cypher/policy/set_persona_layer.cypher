// Change the policy of one persona. Its next run reckons anew when each memory fades.
//
// $tenant_id   string
// $persona_id  string
// $policy      string, JSON
//
// Returns persona_id; nothing when there is no such persona.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.copying IS NULL
SET
  persona.policy = $policy,
  persona.reckon = true
RETURN persona.id AS persona_id
