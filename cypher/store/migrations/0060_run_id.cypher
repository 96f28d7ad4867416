// Runs are known by tenant and id.
CYPHER 25
CREATE CONSTRAINT run_id IF NOT EXISTS
FOR (run:Run)
REQUIRE (run.tenant_id, run.id) IS UNIQUE
