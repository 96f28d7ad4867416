// Conversations by id, as far as the caller may know of them.
//
// $tenant_id    string
// $instance_id  string or null: of this instance only
// $user_id      string or null: with a user, only inside instances they are a member of
// $after        string, the last id of the page before, or ''
// $limit        integer
//
// Returns conversation.
CYPHER 25
MATCH (conversation:Conversation)
WHERE
  conversation.tenant_id = $tenant_id AND
  conversation.id > $after AND
  ($instance_id IS NULL OR conversation.instance_id = $instance_id) AND
  ($user_id IS NULL OR
    EXISTS {
      (:User {tenant_id: $tenant_id, id: $user_id})
        -[:MEMBER_OF]->(:Instance)-[:HOLDS]->(conversation)
    })
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
