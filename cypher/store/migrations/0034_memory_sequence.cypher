// Find what was said just before and just after, in one conversation.
CYPHER 25
CREATE INDEX memory_sequence IF NOT EXISTS
FOR (memory:Memory)
ON (
  memory.tenant_id,
  memory.persona_id,
  memory.conversation_id,
  memory.memory_type,
  memory.said_at,
  memory.id
)
