// The conversations of a persona with messages that are in no checkpoint yet.
//
// $tenant_id   string
// $persona_id  string
// $before      zoned datetime
// $without     list of strings, ids of conversations that are done already
// $limit       integer
//
// Returns conversation_id.
CYPHER 25
MATCH (message:Message)
WHERE
  message.uncovered_since <= $before AND
  message.tenant_id = $tenant_id AND
  message.persona_id = $persona_id AND
  NOT message.conversation_id IN $without
RETURN DISTINCT message.conversation_id AS conversation_id
LIMIT $limit
