// What became of the messages of a conversation that were said in some time, in their order.
//
// $tenant_id        string
// $conversation_id  string
// $since            zoned datetime
// $until            zoned datetime, not included
//
// Returns message, with `left_out`: why it, or part of it, was not drawn from; drawn: the memory type of
// each candidate that was drawn from it, whatever has become of it since.
CYPHER 25
MATCH (message:Message)
  USING INDEX SEEK message:Message(tenant_id, conversation_id, said_at, arrival)
WHERE
  message.tenant_id = $tenant_id AND
  message.conversation_id = $conversation_id AND
  $since <= message.said_at < $until AND
  message.arrival IS NOT NULL // an index is used only when all it covers is asked for
RETURN
  message {
    .id,
    .role,
    .content,
    .said_at,
    left_out: coalesce(message.left_out, [])
  } AS message,
  COLLECT {
    // A memory into which others merged is drawn from their messages too; its own has its time.
    MATCH (drawn:Candidate|Memory)-[:DRAWN_FROM]->(message)
    // So is a copied persona's.
    WHERE
      drawn.extracted_at IS NOT NULL AND
      drawn.said_at = message.said_at AND
      drawn.copied_from IS NULL
    RETURN drawn.memory_type
    ORDER BY drawn.id
  } AS drawn
ORDER BY message.said_at, message.id
