// A key is known by the public part of its text, before its tenant is known.
CYPHER 25
CREATE CONSTRAINT api_key_id IF NOT EXISTS
FOR (key:ApiKey)
REQUIRE key.id IS UNIQUE
