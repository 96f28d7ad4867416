// Recalls: what recalling a memory brought up in its persona.
//
// Each statement may run twice (IF NOT EXISTS). Neo4j Browser takes the file as it is.

// A recall is known by tenant and id.
CREATE CONSTRAINT recall_id IF NOT EXISTS
FOR (recall:Recall)
REQUIRE (recall.tenant_id, recall.id) IS UNIQUE;

// List the recalls of a memory in the order in which they were recorded.
CREATE INDEX recall_order IF NOT EXISTS
FOR (recall:Recall)
ON (recall.tenant_id, recall.memory_id, recall.recalled_at, recall.id);
