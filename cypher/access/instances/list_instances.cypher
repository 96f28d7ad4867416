// The instances of a tenant by id, as far as the caller may know of them.
//
// $tenant_id  string
// $user_id    string or null: with a user, only the instances they are a member of
// $instance_ids  list of strings or null: of those instances, these only
// $after      string, the last id of the page before, or ''
// $limit      integer
//
// Returns instance.
CYPHER 25
MATCH (instance:Instance)
WHERE
  instance.tenant_id = $tenant_id AND
  instance.id > $after AND
  // fragment: visible_instance
  ($user_id IS NULL OR
    (EXISTS { (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance) } AND
      ($instance_ids IS NULL OR instance.id IN $instance_ids)))
  // end: visible_instance
RETURN instance {.id, .name, .created_at} AS instance
ORDER BY instance.id
LIMIT $limit
