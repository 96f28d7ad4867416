// Find the messages of a conversation that nobody has drawn candidates from yet.
CYPHER 25
CREATE INDEX message_waiting_in IF NOT EXISTS
FOR (message:Message)
ON (message.tenant_id, message.conversation_id, message.waiting_since)
