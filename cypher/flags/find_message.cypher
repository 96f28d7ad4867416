// Where a message was said, what it says and to whom, as far as the caller may know of it.
//
// $tenant_id   string
// $message_id  string
// $user_id     string or null: with a user, only inside an instance they are a member of
//
// Returns conversation_id; content; persona, a map {id, name, tone}. Nothing when there is none for this
// caller.
CYPHER 25
MATCH (message:Message {tenant_id: $tenant_id, id: $message_id})
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: message.conversation_id})
WHERE
  $user_id IS NULL OR
  EXISTS {
    (:User {tenant_id: $tenant_id, id: $user_id})
      -[:MEMBER_OF]->(:Instance)-[:HOLDS]->(conversation)
  }
MATCH (persona:Persona {tenant_id: $tenant_id, id: message.persona_id})
RETURN
  conversation.id AS conversation_id,
  message.content AS content,
  persona {.id, .name, .tone} AS persona
