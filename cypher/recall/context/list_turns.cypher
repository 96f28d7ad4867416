// The messages to and from a persona in a conversation before some message, the newest first. Of a flagged one
// only that it is flagged is returned, not its content.
//
// $tenant_id        string
// $conversation_id  string
// $persona_id       string
// $before_said_at   zoned datetime, of the message
// $before_arrival   integer, of the same
// $limit            integer
//
// Returns message.
CYPHER 25
MATCH (message:Message)
  USING INDEX SEEK message:Message(tenant_id, conversation_id, said_at, arrival)
WHERE
  message.tenant_id = $tenant_id AND
  message.conversation_id = $conversation_id AND
  message.said_at <= $before_said_at AND
  message.arrival IS NOT NULL AND
  CASE
    WHEN message.said_at = $before_said_at THEN message.arrival < $before_arrival
    ELSE true
  END AND
  message.persona_id = $persona_id
WITH message
// Ordered by all properties of the index, so that it is read in its order and only up to the limit.
ORDER BY
  message.tenant_id DESC,
  message.conversation_id DESC,
  message.said_at DESC,
  message.arrival DESC
LIMIT $limit
RETURN
  message {
    // fragment: turn_properties
    .id,
    .arrival,
    .role,
    .speaker,
    .user_id,
    .said_at,
    .reply_to,
    source_id: coalesce(message.copied_from, message.id),
    flagged: coalesce(message.flagged, false),
    content: CASE WHEN NOT coalesce(message.flagged, false) THEN message.content END
    // end: turn_properties
  } AS message
ORDER BY message.said_at DESC, message.arrival DESC
