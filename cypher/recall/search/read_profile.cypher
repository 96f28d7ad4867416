// Read what a recall needs to know of a persona before it searches.
//
// $tenant_id   string
// $persona_id  string
//
// Returns name; people: names of those who have spoken to it; deployment, tenant, persona: their layers of the
// policy, as JSON.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.copying IS NULL
MATCH (tenant:Tenant {id: $tenant_id})
OPTIONAL MATCH (deployment:Deployment {id: 'engine'})
RETURN
  persona.name AS name,
  coalesce(persona.people, []) AS people,
  deployment.policy AS deployment,
  tenant.policy AS tenant,
  persona.policy AS persona
