// Find the memories with a weak link that is due to be looked at. Only they carry the property.
CYPHER 25
CREATE INDEX memory_prune IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.prune_at)
