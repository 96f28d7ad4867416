// The messages of a conversation from one to another, both included, in the order they were said.
//
// $tenant_id        string
// $conversation_id  string
// $first_id         string
// $last_id          string, or null: to the end
//
// Returns message_ids; contents; persona, a map {id, name, tone}: whom the first was said to. Nothing
// when one of the two is not in this conversation.
CYPHER 25
MATCH (one:Message {tenant_id: $tenant_id, id: $first_id, conversation_id: $conversation_id})
OPTIONAL MATCH
  (other:Message {tenant_id: $tenant_id, id: $last_id, conversation_id: $conversation_id})
WITH one, other
WHERE $last_id IS NULL OR other IS NOT NULL
WITH
  CASE WHEN other.said_at < one.said_at THEN other ELSE one END AS first,
  CASE WHEN other.said_at < one.said_at THEN one ELSE other END AS last
MATCH (message:Message)
  USING INDEX SEEK message:Message(tenant_id, conversation_id, said_at, id)
WHERE
  message.tenant_id = $tenant_id AND
  message.conversation_id = $conversation_id AND
  message.said_at >= first.said_at AND
  message.said_at <= coalesce(last.said_at, datetime({year: 9999})) AND
  message.id IS NOT NULL
WITH message
ORDER BY message.said_at, message.id
WITH
  collect(message.id) AS message_ids,
  collect(message.content) AS contents,
  collect(message.persona_id)[0] AS persona_id
MATCH (persona:Persona {tenant_id: $tenant_id, id: persona_id})
RETURN message_ids, contents, persona {.id, .name, .tone} AS persona
