// List the conversations of an instance by id, a page at a time.
CYPHER 25
CREATE INDEX conversation_instance IF NOT EXISTS
FOR (conversation:Conversation)
ON (conversation.tenant_id, conversation.instance_id, conversation.id)
