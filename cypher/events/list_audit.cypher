// Everything that was changed in a tenant by people and by what speaks for them, in order.
//
// $tenant_id  string
// $after      string, the last id of the page before, or ''
// $limit      integer
//
// Returns event, with the ids of what it was about.
CYPHER 25
MATCH (event:Event)
WHERE event.tenant_id = $tenant_id AND event.id > $after
WITH event
ORDER BY event.id
LIMIT $limit
RETURN
  event {
    .*,
    about:
      COLLECT {
        MATCH (event)-[:ABOUT]->(it)
        RETURN it.id
        ORDER BY it.id
      }
  } AS event
ORDER BY event.id
