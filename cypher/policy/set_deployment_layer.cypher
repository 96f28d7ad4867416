// Keep the operator's layer of the policy, under every tenant.
//
// $policy  string, JSON
CYPHER 25
MERGE (deployment:Deployment {id: 'engine'})
SET deployment.policy = $policy
