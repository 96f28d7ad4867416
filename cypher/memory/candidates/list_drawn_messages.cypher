// The messages of a conversation within some time, in order, with what was drawn from each.
//
// $tenant_id        string
// $conversation_id  string
// $since            zoned datetime
// $until            zoned datetime, not included
//
// Returns message, with `left_out`: why it, or part of it, was not drawn from; drawn: the memory type of
// each candidate that was drawn from it, whatever its state is now.
CYPHER 25
MATCH (message:Message)
  USING INDEX SEEK message:Message(tenant_id, conversation_id, said_at, arrival)
WHERE
  message.tenant_id = $tenant_id AND
  message.conversation_id = $conversation_id AND
  $since <= message.said_at < $until AND
  message.arrival IS NOT NULL // an index is used only if the condition names all its properties
RETURN
  message {
    .id,
    .role,
    .content,
    .said_at,
    left_out: coalesce(message.left_out, [])
  } AS message,
  COLLECT {
    // A memory that others were merged into is drawn from their messages too: its own message has the same
    // time.
    MATCH (drawn:Candidate|Memory)-[:DRAWN_FROM]->(message)
    // Memories of a copied persona were not drawn again.
    WHERE
      drawn.extracted_at IS NOT NULL AND
      drawn.said_at = message.said_at AND
      drawn.copied_from IS NULL
    RETURN drawn.memory_type
    ORDER BY drawn.id
  } AS drawn
ORDER BY message.said_at, message.id
