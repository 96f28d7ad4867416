// A tenant is known by its id.
CYPHER 25
CREATE CONSTRAINT tenant_id IF NOT EXISTS
FOR (tenant:Tenant)
REQUIRE tenant.id IS UNIQUE
