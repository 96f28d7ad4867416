// A message as checkpoints are made from it: who said it, and the embedding of its first episode if it has one.

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
