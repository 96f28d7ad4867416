// Read a conversation in its order, by time and then by arrival, a page at a time.
CYPHER 25
CREATE INDEX message_order IF NOT EXISTS
FOR (message:Message)
ON (message.tenant_id, message.conversation_id, message.said_at, message.arrival)
