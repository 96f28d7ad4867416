// A page of a conversation, in the order things were said.
//
// $tenant_id        string
// $conversation_id  string
// $after_said_at    zoned datetime, of the last message of the page before
// $after_id         string, of the same
// $limit            integer
//
// Returns message.
CYPHER 25
MATCH (message:Message)
WHERE
  message.tenant_id = $tenant_id AND
  message.conversation_id = $conversation_id AND
  message.said_at >= $after_said_at AND
  (message.said_at > $after_said_at OR message.id > $after_id)
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
  } AS message
ORDER BY message.said_at, message.id
LIMIT $limit
