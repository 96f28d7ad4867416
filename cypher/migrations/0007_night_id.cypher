// A persona has one night a day.
CYPHER 25
CREATE CONSTRAINT night_id IF NOT EXISTS
FOR (night:Night)
REQUIRE (night.tenant_id, night.persona_id, night.day) IS UNIQUE
