// Find what a persona remembers of the last days.
CYPHER 25
CREATE INDEX memory_order IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.state, memory.said_at)
