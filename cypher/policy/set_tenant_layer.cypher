// Change the policy under all personas of a tenant. Their next runs reckon anew.
//
// $tenant_id  string
// $policy     string, JSON
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})
SET tenant.policy = $policy
WITH tenant
MATCH (persona:Persona)
WHERE persona.tenant_id = tenant.id
SET persona.reckon = true
