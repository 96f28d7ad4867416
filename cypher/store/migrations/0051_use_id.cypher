// A use of memories is counted once, however often it is told.
CYPHER 25
CREATE CONSTRAINT use_id IF NOT EXISTS
FOR (use:Use)
REQUIRE (use.tenant_id, use.persona_id, use.id) IS UNIQUE
