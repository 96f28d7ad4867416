// End a membership. The user stays known: what they flagged is theirs.
//
// $tenant_id    string
// $instance_id  string
// $user_id      string
//
// Returns removed, the number of memberships ended.
CYPHER 25
MATCH (:User {tenant_id: $tenant_id, id: $user_id})
  -[membership:MEMBER_OF]->
  (:Instance {tenant_id: $tenant_id, id: $instance_id})
DELETE membership
RETURN count(*) AS removed
