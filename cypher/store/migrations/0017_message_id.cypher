// A message is recorded once, however often it arrives.
CYPHER 25
CREATE CONSTRAINT message_id IF NOT EXISTS
FOR (message:Message)
REQUIRE (message.tenant_id, message.id) IS UNIQUE
