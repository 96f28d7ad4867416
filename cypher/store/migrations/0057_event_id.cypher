// An event is written once.
CYPHER 25
CREATE CONSTRAINT event_id IF NOT EXISTS
FOR (event:Event)
REQUIRE (event.tenant_id, event.id) IS UNIQUE
