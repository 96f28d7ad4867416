// The messages of a conversation from one to another, both included, ordered by when they were said, then by
// arrival: of several messages of the same second, only those inside the range.
//
// $tenant_id        string
// $conversation_id  string
// $first_id         string
// $last_id          string or null: to the end
// $limit            integer
//
// Returns messages, maps {id, persona_id, size: characters}. Nothing when one of the two is not in
// this conversation.
CYPHER 25
MATCH (one:Message {tenant_id: $tenant_id, id: $first_id, conversation_id: $conversation_id})
OPTIONAL MATCH
  (other:Message {tenant_id: $tenant_id, id: $last_id, conversation_id: $conversation_id})
WITH one, other
WHERE $last_id IS NULL OR other IS NOT NULL
WITH
  one,
  other,
  other.said_at < one.said_at OR
  (other.said_at = one.said_at AND other.arrival < one.arrival) AS swapped
WITH
  CASE WHEN swapped THEN other ELSE one END AS first,
  CASE WHEN swapped THEN one ELSE other END AS last
CALL (first, last) {
  MATCH (message:Message)
    USING INDEX SEEK message:Message(tenant_id, conversation_id, said_at, arrival)
  WHERE
    message.tenant_id = $tenant_id AND
    message.conversation_id = $conversation_id AND
    message.said_at >= first.said_at AND
    message.said_at <= coalesce(last.said_at, datetime({year: 9999})) AND
    message.arrival IS NOT NULL AND
    // Not an OR, which would be looked up in two indexes.
    CASE WHEN message.said_at = first.said_at THEN message.arrival >= first.arrival ELSE true END AND
    CASE WHEN message.said_at = last.said_at THEN message.arrival <= last.arrival ELSE true END
  WITH message
  ORDER BY message.tenant_id, message.conversation_id, message.said_at, message.arrival
  LIMIT $limit
  RETURN collect(message {.id, .persona_id, size: size(message.content)}) AS messages
}
RETURN messages
