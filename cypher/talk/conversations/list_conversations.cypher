// Conversations that the caller may see, by id.
//
// $tenant_id     string
// $instance_id   string or null: of this instance only
// $user_id       string or null: with a user, only inside instances they are a member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $after         string, the last id of the previous page, or ''
// $limit         integer
//
// Returns conversation.
CYPHER 25
CALL () {
  WITH 1 AS once
  WHERE $user_id IS NULL AND $instance_id IS NULL
  MATCH (conversation:Conversation)
    USING INDEX SEEK conversation:Conversation(tenant_id, id)
  WHERE conversation.tenant_id = $tenant_id AND conversation.id > $after
  RETURN conversation
  ORDER BY conversation.tenant_id, conversation.id
  LIMIT $limit
  UNION ALL
  CALL () {
    WITH 1 AS once
    WHERE $user_id IS NULL
    RETURN $instance_id AS instance_id
    UNION ALL
    // fragment: instances_of_user
    MATCH (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance:Instance)
    WHERE ($instance_ids IS NULL OR instance.id IN $instance_ids)
    // end: instances_of_user
    WITH instance
    WHERE instance.id = coalesce($instance_id, instance.id)
    RETURN instance.id AS instance_id
  }
  CALL (instance_id) {
    MATCH (conversation:Conversation)
      USING INDEX SEEK conversation:Conversation(tenant_id, instance_id, id)
    WHERE
      conversation.tenant_id = $tenant_id AND
      conversation.instance_id = instance_id AND
      conversation.id > $after
    RETURN conversation
    ORDER BY conversation.tenant_id, conversation.instance_id, conversation.id
    LIMIT $limit
  }
  RETURN conversation
}
RETURN
  conversation {
    .id,
    .instance_id,
    .persona_ids,
    .title,
    .started_at
  } AS conversation
ORDER BY conversation.id
LIMIT $limit
