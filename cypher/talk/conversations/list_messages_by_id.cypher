// Some messages of a conversation, ordered by when they were said, then by arrival.
//
// $tenant_id        string
// $conversation_id  string
// $message_ids      list of strings
//
// Returns messages, maps {id, persona_id, size: characters} of those that are in this conversation.
CYPHER 25
UNWIND $message_ids AS id
MATCH (message:Message {tenant_id: $tenant_id, id: id, conversation_id: $conversation_id})
WITH DISTINCT message
ORDER BY message.said_at, message.arrival
RETURN collect(message {.id, .persona_id, size: size(message.content)}) AS messages
