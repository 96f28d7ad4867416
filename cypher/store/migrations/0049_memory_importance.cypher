// List a persona's memories of one state by importance.
CYPHER 25
CREATE INDEX memory_importance IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.state, memory.importance, memory.id)
