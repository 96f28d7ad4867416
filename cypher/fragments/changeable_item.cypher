// Whether a caller may see and change a candidate or a memory.

// fragment: visible_item
($user_id IS NULL OR
  (EXISTS { (item)-[:DRAWN_FROM]->() } AND
    NOT EXISTS {
      MATCH (item)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
      WHERE
        NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
        NOT EXISTS {
          (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
        }
    })) AND
// end: visible_item
// fragment: own_item
($user_id IS NULL OR
  EXISTS {
    MATCH
      (item)-[:DRAWN_FROM]->(message)
        <-[:CONTAINS]-()<-[:HOLDS]-()
        <-[member:MEMBER_OF]-({id: $user_id})
    WHERE message.user_id = $user_id OR member.role = 'admin'
  })
// end: own_item
