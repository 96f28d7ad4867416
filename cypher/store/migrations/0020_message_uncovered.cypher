// Find what was said in a conversation and is in none of its checkpoints yet.
CYPHER 25
CREATE INDEX message_uncovered IF NOT EXISTS
FOR (message:Message)
ON (message.tenant_id, message.conversation_id, message.uncovered_since)
