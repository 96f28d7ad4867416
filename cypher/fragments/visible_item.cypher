// Whether a caller may see a candidate or a memory: the tenant's staff may; a user if it was drawn from
// messages, and all of these are in instances that the user is a member of and the token is not kept out of.

($user_id IS NULL OR
  (EXISTS { (item)-[:DRAWN_FROM]->() } AND
    NOT EXISTS {
      MATCH (item)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
      WHERE
        NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
        NOT EXISTS {
          (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
        }
    }))
