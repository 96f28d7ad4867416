// Find what a persona remembers of a project.
CYPHER 25
CREATE INDEX memory_project IF NOT EXISTS
FOR (memory:Memory)
ON (memory.tenant_id, memory.persona_id, memory.project)
