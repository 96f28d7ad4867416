// Change the policy under all personas of a tenant. Their next runs reckon anew.
//
// $tenant_id  string
// $policy     string, JSON
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})
SET tenant.policy = $policy
WITH tenant
MATCH (persona:Persona)
WHERE
  persona.tenant_id = tenant.id AND
  persona.id IS NOT NULL // an index is used only when all it covers is asked for
SET persona.reckon = true
