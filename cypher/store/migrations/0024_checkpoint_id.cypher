// A checkpoint is one in its tenant.
CYPHER 25
CREATE CONSTRAINT checkpoint_id IF NOT EXISTS
FOR (checkpoint:Checkpoint)
REQUIRE (checkpoint.tenant_id, checkpoint.id) IS UNIQUE
