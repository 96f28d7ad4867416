// What a recall has to know of a persona before it looks.
//
// $tenant_id   string
// $persona_id  string
//
// Returns name; people: whom it has heard; tenant, persona: their layers of the policy, as text.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.copying IS NULL
MATCH (tenant:Tenant {id: $tenant_id})
RETURN
  persona.name AS name,
  coalesce(persona.people, []) AS people,
  tenant.policy AS tenant,
  persona.policy AS persona
