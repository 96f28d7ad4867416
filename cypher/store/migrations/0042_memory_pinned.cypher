// Find what a persona never lets go of.
CYPHER 25
CREATE INDEX memory_pinned IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.pinned)
