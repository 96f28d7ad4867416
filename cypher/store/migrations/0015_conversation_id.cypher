// Conversations are known by tenant and id.
CYPHER 25
CREATE CONSTRAINT conversation_id IF NOT EXISTS
FOR (conversation:Conversation)
REQUIRE (conversation.tenant_id, conversation.id) IS UNIQUE
