// Find the personas that are still being copied. Only they carry the property.
CYPHER 25
CREATE INDEX persona_copying IF NOT EXISTS
FOR (persona:Persona)
ON (persona.copying)
