// The messages of a conversation that are in no checkpoint yet, the oldest first.
//
// $tenant_id        string
// $conversation_id  string
// $limit            integer
//
// Returns message, with the speaker, and its embedding if it has one.
CYPHER 25
MATCH (message:Message)
WHERE
  message.tenant_id = $tenant_id AND
  message.conversation_id = $conversation_id AND
  message.uncovered_since IS NOT NULL
WITH message
ORDER BY message.said_at, message.arrival
LIMIT $limit
MATCH (persona:Persona {tenant_id: $tenant_id, id: message.persona_id})
RETURN
  message {
    // fragment: covered_message_properties
    .id,
    .content,
    .said_at,
    .arrival,
    flagged: coalesce(message.flagged, false),
    speaker:
      CASE message.role
        WHEN 'persona' THEN persona.name
        ELSE coalesce(message.speaker, message.user_id, 'The user')
      END,
    meaning:
      COLLECT {
        // A memory that others were merged into is drawn from their messages too: the message's own comes first.
        MATCH (item:Candidate|Memory {memory_type: 'episodic'})-[:DRAWN_FROM]->(message)
        WHERE item.embedding IS NOT NULL
        RETURN item {.embedding, .known_share}
        ORDER BY item.said_at <> message.said_at, coalesce(item.passage[0], 1), item.id
        LIMIT 1
      }[0]
    // end: covered_message_properties
  } AS message
ORDER BY message.said_at, message.arrival
