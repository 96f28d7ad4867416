// The engine has one clock.
CYPHER 25
CREATE CONSTRAINT clock_id IF NOT EXISTS
FOR (clock:Clock)
REQUIRE clock.id IS UNIQUE
