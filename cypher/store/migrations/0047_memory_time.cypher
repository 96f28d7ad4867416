// List the memories of a tenant in the order they were said.
CYPHER 25
CREATE INDEX memory_time IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.said_at, memory.id)
