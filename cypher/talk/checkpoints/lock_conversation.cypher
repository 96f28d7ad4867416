// Lock a conversation until the transaction ends, and read its newest checkpoint.
//
// $tenant_id        string
// $conversation_id  string
//
// Returns newest, null when there is no checkpoint; nothing when there is no conversation.
CYPHER 25
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
SET conversation.lock = true
REMOVE conversation.lock
WITH conversation
RETURN
  COLLECT {
    MATCH (checkpoint:Checkpoint)
    USING INDEX checkpoint:Checkpoint(tenant_id, conversation_id, from_at)
    WHERE
      checkpoint.tenant_id = $tenant_id AND
      checkpoint.conversation_id = $conversation_id AND
      checkpoint.from_at IS NOT NULL
    RETURN checkpoint {.id, .from_at, .to_at}
    ORDER BY checkpoint.from_at DESC, checkpoint.id DESC
    LIMIT 1
  }[0] AS newest
