// Find the memories whose importance, or whose place among the living, is due to be looked at.
CYPHER 25
CREATE INDEX memory_fades IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.fades_at)
