// Find the new memories that wait for their links. Only they carry the property.
CYPHER 25
CREATE INDEX memory_awaits IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.awaits, memory.said_at, memory.id)
