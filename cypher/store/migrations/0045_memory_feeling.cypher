// Find the memories that were felt. Only they carry the property.
CYPHER 25
CREATE INDEX memory_feeling IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.state, memory.valence)
