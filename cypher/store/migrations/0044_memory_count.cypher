// Count a persona's memories without reading any: all that is counted by stands in the index.
CYPHER 25
CREATE INDEX memory_count IF NOT EXISTS
FOR (memory:Memory)
ON (
  memory.tenant_id,
  memory.persona_id,
  memory.state,
  memory.memory_type,
  memory.importance,
  memory.salience,
  memory.pinned,
  memory.minimized
)
