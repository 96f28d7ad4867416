// What happened in a conversation, in the order it was decided.
CYPHER 25
CREATE CONSTRAINT event_place IF NOT EXISTS
FOR (event:Event)
REQUIRE (event.tenant_id, event.conversation_id, event.place) IS UNIQUE
