// One conversation, as far as the caller may know of it.
//
// $tenant_id        string
// $conversation_id  string
// $user_id          string or null: with a user, only inside an instance they are a member of
//
// Returns conversation; is_admin: whether the user is an admin of its instance. Nothing when there is
// none for this caller.
CYPHER 25
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
WHERE
  $user_id IS NULL OR
  EXISTS {
    (:User {tenant_id: $tenant_id, id: $user_id})
      -[:MEMBER_OF]->(:Instance)-[:HOLDS]->(conversation)
  }
RETURN
  conversation {
    .id,
    .instance_id,
    .persona_ids,
    .title,
    .started_at
  } AS conversation,
  EXISTS {
    (:User {tenant_id: $tenant_id, id: $user_id})
      -[:MEMBER_OF {role: 'admin'}]->(:Instance)-[:HOLDS]->(conversation)
  } AS is_admin
