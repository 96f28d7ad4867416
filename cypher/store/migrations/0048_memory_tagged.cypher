// Find what a persona remembers under any tag: an index does not look into a list.
CYPHER 25
CREATE INDEX memory_tagged IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.tagged)
