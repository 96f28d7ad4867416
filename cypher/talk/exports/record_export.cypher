// Record for the audit that a conversation, or a part of it, is exported.
//
// $tenant_id        string
// $conversation_id  string
// $event            map {id, action, by, at}
// $after            string, what the audit event says
CYPHER 25
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: $conversation_id})
MERGE (event:Event {tenant_id: $tenant_id, id: $event.id})
  ON CREATE SET
    event += $event,
    event.written_at = datetime.realtime(),
    event.after = $after
MERGE (event)-[:ABOUT]->(conversation)
