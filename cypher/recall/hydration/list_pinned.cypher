// The pinned memories of a persona, the most important first.
//
// $tenant_id   string
// $persona_id  string
// $now         zoned datetime: facts that ended by then are left out
// $limit       integer
//
// Returns memory.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, persona_id: $persona_id, pinned: true})
WHERE
  memory.state = 'active' AND
  memory.flagged = false AND
  (memory.valid_to IS NULL OR memory.valid_to > $now)
RETURN memory {.id, .text, .token_estimate, .said_at, .passage, .shape_memories} AS memory
ORDER BY memory.importance DESC, memory.said_at DESC, memory.id
LIMIT $limit
