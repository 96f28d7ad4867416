// Ranges are known by tenant and id.
CYPHER 25
CREATE CONSTRAINT range_id IF NOT EXISTS
FOR (range:Range)
REQUIRE (range.tenant_id, range.id) IS UNIQUE
