// When the first and the last message of a part of a conversation were said.
//
// $tenant_id        string
// $conversation_id  string
// $first_id         string, or null: from the beginning
// $last_id          string, or null: to the end
//
// Returns first, last: zoned datetimes or null, the earlier one first; missing: the ids that are not of
// this conversation.
CYPHER 25
OPTIONAL MATCH
  (one:Message {tenant_id: $tenant_id, id: $first_id, conversation_id: $conversation_id})
OPTIONAL MATCH
  (other:Message {tenant_id: $tenant_id, id: $last_id, conversation_id: $conversation_id})
WITH
  one.said_at AS one,
  other.said_at AS other,
  [
    id IN [
      CASE WHEN one IS NULL THEN $first_id END,
      CASE WHEN other IS NULL THEN $last_id END
    ]
    WHERE id IS NOT NULL
  ] AS missing
RETURN
  CASE WHEN other < one THEN other ELSE one END AS first,
  CASE WHEN other < one THEN one ELSE other END AS last,
  missing
