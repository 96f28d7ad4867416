// The names of the personas of a conversation.
//
// $tenant_id        string
// $conversation_id  string
//
// Returns name.
CYPHER 25
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
  -[:WITH]->(persona:Persona)
RETURN persona.name AS name
