// Find what is held about one thing, in the order it was said.
CYPHER 25
CREATE INDEX memory_fact_order IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.fact, memory.said_at)
