// What a checkpoint was summed up as before is kept once.
CYPHER 25
CREATE CONSTRAINT summary_id IF NOT EXISTS
FOR (summary:Summary)
REQUIRE (summary.tenant_id, summary.id) IS UNIQUE
