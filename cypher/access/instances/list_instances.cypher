// The instances of a tenant that the caller may see, by id.
//
// $tenant_id     string
// $user_id       string or null: with a user, only the instances they are a member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $after         string, the last id of the previous page, or ''
// $limit         integer
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
