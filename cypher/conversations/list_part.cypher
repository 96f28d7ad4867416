// A page of a part of a conversation, in the order things were said.
//
// $tenant_id        string
// $conversation_id  string
// $from_said_at     zoned datetime, of the first message of the page
// $from_id          string, of the same, or ''
// $until            zoned datetime: nothing that was said later
// $limit            integer
//
// Returns message; speaker: the name of who said it.
CYPHER 25
MATCH (message:Message)
WHERE
  message.tenant_id = $tenant_id AND
  message.conversation_id = $conversation_id AND
  message.said_at >= $from_said_at AND
  message.said_at <= $until AND
  (message.said_at > $from_said_at OR message.id >= $from_id)
WITH message
ORDER BY message.said_at, message.id
LIMIT $limit
OPTIONAL MATCH (persona:Persona {tenant_id: $tenant_id, id: message.persona_id})
RETURN
  message {
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
  } AS message,
  CASE message.role
    WHEN 'persona' THEN persona.name
    ELSE coalesce(message.speaker, message.user_id, 'The user')
  END AS speaker
ORDER BY message.said_at, message.id
