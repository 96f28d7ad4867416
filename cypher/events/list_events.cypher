// What happened in a conversation beside what was said, in order.
//
// $tenant_id        string
// $conversation_id  string
// $after            integer, the place of the last event that is known
// $limit            integer
//
// Returns event.
CYPHER 25
MATCH (event:Event)
WHERE
  event.tenant_id = $tenant_id AND
  event.conversation_id = $conversation_id AND
  event.place > $after
RETURN
  event {
    .place,
    .action,
    .by,
    .at,
    .message_ids,
    .range_id,
    .source,
    acknowledgment:
      COLLECT {
        MATCH (said:Acknowledgment {tenant_id: $tenant_id, id: event.acknowledgment_id})
        RETURN said {.id, .persona_id, .text, .plural, .made_at}
      }[0]
  } AS event
ORDER BY event.place
LIMIT $limit
