// Instances are known by tenant and id.
CYPHER 25
CREATE CONSTRAINT instance_id IF NOT EXISTS
FOR (instance:Instance)
REQUIRE (instance.tenant_id, instance.id) IS UNIQUE
