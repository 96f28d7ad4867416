// The events of a conversation, in order.
//
// $tenant_id        string
// $conversation_id  string
// $after            integer, the place of the last event that the caller knows
// $limit            integer
//
// Returns event; its acknowledgment is null when it was withdrawn, and seen_by when everybody in the
// conversation may see it.
CYPHER 25
MATCH (event:Event)
WHERE
  event.tenant_id = $tenant_id AND
  event.conversation_id = $conversation_id AND
  event.place > $after
WITH event
ORDER BY event.place
LIMIT $limit
RETURN
  event {
    .place,
    .action,
    .by,
    .at,
    .seen_by,
    .range_id,
    .source,
    .into,
    message_ids: coalesce(event.message_ids, []),
    candidate_ids: coalesce(event.candidate_ids, []),
    memory_ids: coalesce(event.memory_ids, []),
    checkpoint_ids: coalesce(event.checkpoint_ids, []),
    withdrawn: coalesce(event.withdrawn, []),
    acknowledgment:
      COLLECT {
        MATCH (said:Acknowledgment {tenant_id: $tenant_id, id: event.acknowledgment_id})
        WHERE said.withdrawn_at IS NULL
        RETURN said {.id, .persona_id, .text, .plural, .made_at}
      }[0]
  } AS event
ORDER BY event.place
