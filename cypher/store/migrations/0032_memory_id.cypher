// Memories are known by tenant and id: the id of the candidate they came from.
CYPHER 25
CREATE CONSTRAINT memory_id IF NOT EXISTS
FOR (memory:Memory)
REQUIRE (memory.tenant_id, memory.id) IS UNIQUE
