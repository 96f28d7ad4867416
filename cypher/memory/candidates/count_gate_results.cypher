// Count what the extraction gate let through and what it left out, over the newest conversations of a
// persona.
//
// $tenant_id      string
// $persona_id     string
// $conversations  integer: how many conversations are read, the newest
// $most           integer: how many of their messages are read at most
//
// Returns messages; left_out, maps {reason, messages}; candidates, maps {memory_type, candidates}.
CYPHER 25
CALL () {
  MATCH
    (:Persona {tenant_id: $tenant_id, id: $persona_id})<-[:WITH]-(conversation:Conversation)
  WITH conversation
  ORDER BY conversation.started_at DESC, conversation.id DESC
  LIMIT $conversations
  MATCH (conversation)-[:CONTAINS]->(message)
  WHERE message.persona_id = $persona_id AND message.drawn_at IS NOT NULL
  WITH message
  LIMIT $most
  RETURN collect(message) AS messages
}
CALL (messages) {
  UNWIND messages AS message
  UNWIND message.left_out AS reason
  WITH reason, count(*) AS n
  ORDER BY n DESC, reason
  RETURN collect({reason: reason, messages: n}) AS left_out
}
CALL (messages) {
  UNWIND messages AS message
  MATCH (message)<-[:DRAWN_FROM]-(item)
  // A memory that others were merged into is drawn from their messages too: its own message has the same
  // time. Memories of a copied persona were not drawn again.
  WHERE
    item.persona_id = $persona_id AND
    item.extracted_at IS NOT NULL AND
    item.copied_from IS NULL AND
    item.said_at = message.said_at
  WITH item.memory_type AS memory_type, count(DISTINCT item) AS n
  ORDER BY memory_type
  RETURN collect({memory_type: memory_type, candidates: n}) AS candidates
}
RETURN size(messages) AS messages, left_out, candidates
