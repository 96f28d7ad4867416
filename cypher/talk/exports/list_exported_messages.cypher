// A page of a part of a conversation, ordered by when messages were said, then by arrival.
//
// $tenant_id        string
// $conversation_id  string
// $from_said_at     zoned datetime, of the first message of the page
// $from_arrival     integer, of the same
// $until            zoned datetime, of the last message of the part
// $until_arrival    integer, of the same
// $limit            integer
//
// Returns message; arrival: its number in the conversation; speaker: the name of who said it.
CYPHER 25
MATCH (message:Message)
  USING INDEX SEEK message:Message(tenant_id, conversation_id, said_at, arrival)
WHERE
  message.tenant_id = $tenant_id AND
  message.conversation_id = $conversation_id AND
  message.said_at >= $from_said_at AND
  message.said_at <= $until AND
  message.arrival IS NOT NULL AND
  // Not an OR, which would be looked up in two indexes.
  CASE WHEN message.said_at = $from_said_at THEN message.arrival >= $from_arrival ELSE true END AND
  CASE WHEN message.said_at = $until THEN message.arrival <= $until_arrival ELSE true END
WITH message
// Ordered by all properties of the index, so that it is read in its order and only up to the limit.
ORDER BY message.tenant_id, message.conversation_id, message.said_at, message.arrival
LIMIT $limit
OPTIONAL MATCH (persona:Persona {tenant_id: $tenant_id, id: message.persona_id})
RETURN
  message {
    // fragment: message_properties
    .id,
    .conversation_id,
    .persona_id,
    .role,
    .content,
    .said_at,
    .user_id,
    .speaker,
    .reply_to,
    flag:
      COLLECT {
        MATCH (flag:Flag {tenant_id: $tenant_id, id: message.flag_id})
        RETURN flag {.*}
      }[0]
    // end: message_properties
  } AS message,
  message.arrival AS arrival,
  CASE message.role
    WHEN 'persona' THEN persona.name
    ELSE coalesce(message.speaker, message.user_id, 'The user')
  END AS speaker
ORDER BY message.said_at, arrival
