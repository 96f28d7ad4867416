// End a membership. The user stays: what they flagged is theirs.
//
// $tenant_id    string
// $instance_id  string
// $user_id      string
// $event        map {id, action, by, at}
//
// Returns removed, the number of memberships ended.
CYPHER 25
MATCH (user:User {tenant_id: $tenant_id, id: $user_id})
  -[membership:MEMBER_OF]->
  (instance:Instance {tenant_id: $tenant_id, id: $instance_id})
SET membership.lock = true
WITH user, instance, membership, membership.role AS role
DELETE membership
CREATE
  (event:Event {tenant_id: $tenant_id, written_at: datetime.realtime(), before: role})
    -[:ABOUT]->(instance)
CREATE (event)-[:ABOUT]->(user)
SET event += $event
RETURN count(*) AS removed
