// What a tenant and one of its personas change of the policy.
//
// $tenant_id   string
// $persona_id  string
//
// Returns tenant, persona: JSON or null. Nothing when there is no such persona.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.copying IS NULL
MATCH (tenant:Tenant {id: $tenant_id})
RETURN tenant.policy AS tenant, persona.policy AS persona
