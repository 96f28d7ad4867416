// The conversations with messages that wait too long for a checkpoint.
//
// $before  zoned datetime
// $limit   integer
//
// Returns tenant_id, conversation_id.
CYPHER 25
MATCH (message:Message)
WHERE message.uncovered_since < $before
RETURN DISTINCT message.tenant_id AS tenant_id, message.conversation_id AS conversation_id
LIMIT $limit
