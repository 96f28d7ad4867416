// The layers of the policy that a deployment and a tenant set.
//
// $tenant_id  string
//
// Returns policy, deployment: JSON or null.
CYPHER 25
MATCH (tenant:Tenant {id: $tenant_id})
OPTIONAL MATCH (deployment:Deployment {id: 'engine'})
RETURN tenant.policy AS policy, deployment.policy AS deployment
