// The layers of the policy of some personas: of the deployment, the tenant and the persona.
//
// $personas  list of maps {tenant_id, persona_id}
//
// Returns tenant_id, persona_id; deployment, tenant, persona: JSON or null. A
// persona that does not exist is left out.
CYPHER 25
UNWIND $personas AS one
MATCH (persona:Persona {tenant_id: one.tenant_id, id: one.persona_id})
WHERE persona.copying IS NULL
MATCH (tenant:Tenant {id: one.tenant_id})
OPTIONAL MATCH (deployment:Deployment {id: 'engine'})
RETURN
  tenant.id AS tenant_id,
  persona.id AS persona_id,
  deployment.policy AS deployment,
  tenant.policy AS tenant,
  persona.policy AS persona
