// What a tenant changes of the policy.
//
// $tenant_id  string
//
// Returns policy: JSON or null.
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})
RETURN tenant.policy AS policy
