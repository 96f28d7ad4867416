// Acknowledgments are known by tenant and id.
CYPHER 25
CREATE CONSTRAINT acknowledgment_id IF NOT EXISTS
FOR (acknowledgment:Acknowledgment)
REQUIRE (acknowledgment.tenant_id, acknowledgment.id) IS UNIQUE
