// Whether a caller may see a conversation: the tenant's staff may; a user if they are a member of its
// instance and their token is not limited to other instances.

($user_id IS NULL OR
  EXISTS {
    MATCH (conversation)<-[:HOLDS]-(instance)<-[:MEMBER_OF]-({id: $user_id})
    WHERE $instance_ids IS NULL OR instance.id IN $instance_ids
  })
