// Find the memories used together since the last night. Only they carry the property.
CYPHER 25
CREATE INDEX memory_stirred IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.stirred_at)
