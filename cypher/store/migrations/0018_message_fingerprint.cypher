// Find whether the same was said before in a conversation.
CYPHER 25
CREATE INDEX message_fingerprint IF NOT EXISTS
FOR (message:Message)
ON (message.tenant_id, message.conversation_id, message.fingerprint)
