// The start and end of each checkpoint of a conversation, in order.
//
// $tenant_id        string
// $conversation_id  string
//
// Returns span.
CYPHER 25
MATCH (checkpoint:Checkpoint)
USING INDEX checkpoint:Checkpoint(tenant_id, conversation_id, from_at)
WHERE
  checkpoint.tenant_id = $tenant_id AND
  checkpoint.conversation_id = $conversation_id AND
  checkpoint.from_at IS NOT NULL
RETURN checkpoint {.id, .from_at, .to_at} AS span
ORDER BY checkpoint.from_at, checkpoint.id
