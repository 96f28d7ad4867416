// List a persona's memories of one state.
CYPHER 25
CREATE INDEX memory_state IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.state, memory.id)
