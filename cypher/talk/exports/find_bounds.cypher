// The positions of the first and the last message of a part of a conversation.
//
// $tenant_id        string
// $conversation_id  string
// $first_id         string or null: from the beginning
// $last_id          string or null: to the end
//
// Returns first, last: maps {said_at, arrival} or null, the earlier one first; missing: the ids that are
// not in this conversation.
CYPHER 25
OPTIONAL MATCH
  (one:Message {tenant_id: $tenant_id, id: $first_id, conversation_id: $conversation_id})
OPTIONAL MATCH
  (other:Message {tenant_id: $tenant_id, id: $last_id, conversation_id: $conversation_id})
WITH
  one {.said_at, .arrival} AS one,
  other {.said_at, .arrival} AS other,
  other.said_at < one.said_at OR
  (other.said_at = one.said_at AND other.arrival < one.arrival) AS swapped,
  [
    id IN [
      CASE WHEN one IS NULL THEN $first_id END,
      CASE WHEN other IS NULL THEN $last_id END
    ]
    WHERE id IS NOT NULL
  ] AS missing
RETURN
  CASE WHEN swapped THEN other ELSE one END AS first,
  CASE WHEN swapped THEN one ELSE other END AS last,
  missing
