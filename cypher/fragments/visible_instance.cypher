// Whether a caller may see an instance: the tenant's staff may; a user if they are a member of it and
// their token is not limited to other instances.

($user_id IS NULL OR
  (EXISTS { (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance) } AND
    ($instance_ids IS NULL OR instance.id IN $instance_ids)))
