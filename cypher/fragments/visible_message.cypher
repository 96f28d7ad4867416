// Whether a caller may see a message: the tenant's staff may; a user if they are a member of the instance
// it was said in and their token is not limited to other instances.

($user_id IS NULL OR
  EXISTS {
    MATCH (message)<-[:CONTAINS]-()<-[:HOLDS]-(instance)<-[:MEMBER_OF]-({id: $user_id})
    WHERE $instance_ids IS NULL OR instance.id IN $instance_ids
  })
