// The personas of conversations that the caller may see; for the tenant's staff, all of the tenant.
//
// $tenant_id     string
// $instance_id   string or null: in this instance only
// $user_id       string or null: with a user, only in instances they are a member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $limit         integer
//
// Returns id.
CYPHER 25
CALL () {
  WITH 1 AS once
  WHERE $user_id IS NULL AND $instance_id IS NULL
  MATCH (persona:Persona)
  WHERE persona.tenant_id = $tenant_id AND persona.id IS NOT NULL
  RETURN persona.id AS id
  UNION
  WITH 1 AS once
  WHERE $instance_id IS NOT NULL
  MATCH (instance:Instance {tenant_id: $tenant_id, id: $instance_id})
  WHERE
    // fragment: visible_instance
    ($user_id IS NULL OR
      (EXISTS { (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance) } AND
        ($instance_ids IS NULL OR instance.id IN $instance_ids)))
    // end: visible_instance
  MATCH (instance)-[:HOLDS]->()-[:WITH]->(persona)
  RETURN DISTINCT persona.id AS id
  UNION
  WITH 1 AS once
  WHERE $user_id IS NOT NULL AND $instance_id IS NULL
  // fragment: instances_of_user
  MATCH (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance:Instance)
  WHERE ($instance_ids IS NULL OR instance.id IN $instance_ids)
  // end: instances_of_user
  MATCH (instance)-[:HOLDS]->()-[:WITH]->(persona)
  RETURN DISTINCT persona.id AS id
}
RETURN id
ORDER BY id
LIMIT $limit
