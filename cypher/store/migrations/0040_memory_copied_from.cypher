// Find the copy of a memory in a persona that was duplicated.
CYPHER 25
CREATE INDEX memory_copied_from IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.copied_from)
