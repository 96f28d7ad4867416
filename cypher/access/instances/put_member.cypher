// Make a user a member of an instance, or change the role of a member.
//
// $tenant_id    string
// $instance_id  string
// $user_id      string
// $role         string, 'member' or 'admin'
// $since        zoned datetime
// $event        map {id, action, by, at}
//
// Returns member; nothing when there is no such instance.
CYPHER 25
MATCH (instance:Instance {tenant_id: $tenant_id, id: $instance_id})
MERGE (user:User {tenant_id: $tenant_id, id: $user_id})
MERGE (user)-[membership:MEMBER_OF]->(instance)
  ON CREATE SET membership.since = $since
// Lock before reading what it was.
SET membership.lock = true
REMOVE membership.lock
FOREACH (changed IN CASE WHEN membership.role = $role THEN [] ELSE [1] END |
  CREATE
    (event:Event {
      tenant_id: $tenant_id,
      written_at: datetime.realtime(),
      before: membership.role,
      after: $role
    })
      -[:ABOUT]->(instance)
  CREATE (event)-[:ABOUT]->(user)
  SET event += $event
)
SET membership.role = $role
RETURN {user_id: user.id, role: membership.role, since: membership.since} AS member
