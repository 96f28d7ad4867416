// What has happened to a message: the events about it, in order.
//
// $tenant_id   string
// $message_id  string
//
// Returns event.
CYPHER 25
MATCH (message:Message {tenant_id: $tenant_id, id: $message_id})<-[:ABOUT]-(event:Event)
RETURN event {.*} AS event
ORDER BY event.id
