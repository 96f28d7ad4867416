// What was changed in a tenant, in the order in which it took effect.
CYPHER 25
CREATE INDEX event_time IF NOT EXISTS
FOR (event:Event)
ON (event.tenant_id, event.written_at, event.id)
