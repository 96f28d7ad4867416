// Users are known by tenant and the id their own system gave them.
CYPHER 25
CREATE CONSTRAINT user_id IF NOT EXISTS
FOR (user:User)
REQUIRE (user.tenant_id, user.id) IS UNIQUE
