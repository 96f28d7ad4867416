// One instance, if the caller may see it.
//
// $tenant_id     string
// $instance_id   string
// $user_id       string or null: with a user, only an instance they are a member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
//
// Returns instance; nothing when there is none for this caller.
CYPHER 25
MATCH (instance:Instance {tenant_id: $tenant_id, id: $instance_id})
WHERE
  // fragment: visible_instance
  ($user_id IS NULL OR
    (EXISTS { (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance) } AND
      ($instance_ids IS NULL OR instance.id IN $instance_ids)))
  // end: visible_instance
RETURN instance {.id, .name, .created_at} AS instance
