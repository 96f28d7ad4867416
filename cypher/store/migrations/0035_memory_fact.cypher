// Find what is held about one thing.
CYPHER 25
CREATE INDEX memory_fact IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.fact)
