// List a persona's memories of one state by salience.
CYPHER 25
CREATE INDEX memory_salience IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.state, memory.salience, memory.id)
