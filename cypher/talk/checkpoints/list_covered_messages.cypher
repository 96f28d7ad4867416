// The messages of some checkpoints, in the order they were said.
//
// $tenant_id       string
// $checkpoint_ids  list of strings
//
// Returns checkpoint_id, message, with the speaker, and its embedding if it has one.
CYPHER 25
UNWIND $checkpoint_ids AS id
MATCH (checkpoint:Checkpoint {tenant_id: $tenant_id, id: id})-[:COVERS]->(message:Message)
WITH checkpoint, message, message.persona_id AS persona_id
MATCH (persona:Persona {tenant_id: $tenant_id, id: persona_id})
RETURN
  checkpoint.id AS checkpoint_id,
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
