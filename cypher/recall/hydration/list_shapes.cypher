// The forgotten shapes of a persona that are not archived, the most lasting first: by importance, then the newest.
//
// $tenant_id   string
// $persona_id  string
// $now         zoned datetime: shapes of a later time are left out
// $limit       integer
//
// Returns memory.
CYPHER 25
MATCH (memory:ForgottenShape)
  USING INDEX SEEK memory:ForgottenShape(tenant_id, persona_id, formed_at, id)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.formed_at <= $now AND
  memory.id IS NOT NULL AND // an index is used only if the condition names all its properties
  memory.state = 'active' AND
  NOT memory.flagged
RETURN memory {.id, .text, .token_estimate, .said_at, .passage, .shape_memories} AS memory
ORDER BY memory.importance DESC, memory.formed_at DESC, memory.id
LIMIT $limit
