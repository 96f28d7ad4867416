// The number of the last event of a conversation.
//
// $tenant_id        string
// $conversation_id  string
//
// Returns place.
CYPHER 25
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
RETURN coalesce(conversation.events, 0) AS place
