// The last turns of a conversation with a persona, flagged or not, the newest first.
//
// $tenant_id        string
// $conversation_id  string
// $persona_id       string
// $limit            integer
//
// Returns message.
CYPHER 25
MATCH (message:Message)
WHERE
  message.tenant_id = $tenant_id AND
  message.conversation_id = $conversation_id AND
  message.said_at IS NOT NULL AND
  message.id IS NOT NULL AND
  message.persona_id = $persona_id
RETURN
  message {
    .id,
    .role,
    .content,
    .speaker,
    .user_id,
    .said_at,
    .reply_to,
    flagged: coalesce(message.flagged, false)
  } AS message
ORDER BY message.said_at DESC, message.id DESC
LIMIT $limit
