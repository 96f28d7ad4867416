// A flag is set once, however often it is sent.
CYPHER 25
CREATE CONSTRAINT flag_id IF NOT EXISTS
FOR (flag:Flag)
REQUIRE (flag.tenant_id, flag.id) IS UNIQUE
