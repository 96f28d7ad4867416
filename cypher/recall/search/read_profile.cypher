// What a recall has to know of a persona before it looks.
//
// $tenant_id   string
// $persona_id  string
//
// Returns name; people: whom it has heard; deployment, tenant, persona: their layers of the policy, as
// text.
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
