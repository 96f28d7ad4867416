// Add an event to the conversations that some candidates or memories were drawn from.
//
// $tenant_id  string
// $ids        list of strings, of candidates and memories
// $event      map {id, action, by, at}: what has caused it
// $of_flags   boolean: whether only those who flagged may see it; else also the authors of the messages
//
// Returns conversation_id, of each that got an event.
CYPHER 25
UNWIND $ids AS id
MATCH (item:Candidate|Memory {tenant_id: $tenant_id, id: id})-[:DRAWN_FROM]->(message:Message)
WHERE message.persona_id = item.persona_id
WITH
  message.conversation_id AS conversation_id,
  collect(DISTINCT item) AS items,
  collect(DISTINCT message) AS messages
ORDER BY conversation_id
MATCH (conversation:Conversation {tenant_id: $tenant_id, id: conversation_id})
SET conversation.lock = true
REMOVE conversation.lock
WITH conversation, items, messages
SET conversation.events = coalesce(conversation.events, 0) + 1
CREATE
  (:Event {
    tenant_id: $tenant_id,
    conversation_id: conversation.id,
    place: conversation.events,
    id: $event.id + '-in-' + conversation.id,
    effect_of: $event.id,
    action: $event.action,
    by: $event.by,
    at: $event.at,
    written_at: datetime.realtime(),
    candidate_ids: [item IN items WHERE item:Candidate | item.id],
    memory_ids: [item IN items WHERE item:Memory | item.id],
    seen_by:
      COLLECT {
        UNWIND messages AS message
        MATCH (message)<-[:FLAGS]-(flag:Flag)
        RETURN DISTINCT flag.flagged_by AS user_id
        UNION
        UNWIND messages AS message
        WITH message
        WHERE NOT $of_flags AND message.user_id IS NOT NULL
        RETURN DISTINCT message.user_id AS user_id
      }
  })
RETURN conversation.id AS conversation_id
