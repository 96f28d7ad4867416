// The next nights of a tenant's personas, with the policies that say at which hour.
//
// $tenant_id   string
// $persona_id  string, or null for all of them
// $after       string, the last id of the previous batch, or ''
// $limit       integer
//
// Returns persona_id, time_zone, next_night_at; deployment, tenant, persona: layers of the policy.
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})
OPTIONAL MATCH (deployment:Deployment {id: 'engine'})
MATCH (persona:Persona)
WHERE
  persona.tenant_id = $tenant_id AND
  persona.id > $after AND
  ($persona_id IS NULL OR persona.id = $persona_id) AND
  persona.next_night_at IS NOT NULL
RETURN
  persona.id AS persona_id,
  persona.time_zone AS time_zone,
  persona.next_night_at AS next_night_at,
  deployment.policy AS deployment,
  tenant.policy AS tenant,
  persona.policy AS persona
ORDER BY persona_id
LIMIT $limit
