// Make a user a member of an instance, or change which kind.
//
// $tenant_id    string
// $instance_id  string
// $user_id      string
// $role         string, 'member' or 'admin'
// $since        zoned datetime
//
// Returns member; nothing when there is no such instance.
CYPHER 25
MATCH (instance:Instance {tenant_id: $tenant_id, id: $instance_id})
MERGE (user:User {tenant_id: $tenant_id, id: $user_id})
MERGE (user)-[membership:MEMBER_OF]->(instance)
  ON CREATE SET membership.since = $since
SET membership.role = $role
RETURN {user_id: user.id, role: membership.role, since: membership.since} AS member
