// The newest memories and candidates of a persona, the newest first; of a long message its first passage.
//
// $tenant_id   string
// $persona_id  string
// $now         zoned datetime: facts that ended by then are left out
// $limit       integer
//
// Returns memory.
CYPHER 25
CALL () {
  MATCH (memory:Memory)
    USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, said_at)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.state = 'active' AND
    memory.said_at <= $now AND
    memory.flagged = false AND
    memory.memory_type <> 'forgotten_shape' AND
    coalesce(memory.passage[0], 1) = 1 AND
    (memory.valid_to IS NULL OR memory.valid_to > $now)
  RETURN memory
  // Ordered by all properties of the index, so that it is read in its order and only up to the limit.
  ORDER BY
    memory.tenant_id DESC,
    memory.persona_id DESC,
    memory.state DESC,
    memory.said_at DESC
  LIMIT $limit
  UNION ALL
  MATCH (memory:Candidate)
    USING INDEX SEEK memory:Candidate(tenant_id, persona_id, state, said_at, id)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.state = 'pending' AND
    memory.said_at <= $now AND
    memory.id IS NOT NULL AND
    memory.flagged = false AND
    coalesce(memory.passage[0], 1) = 1
  RETURN memory
  ORDER BY
    memory.tenant_id DESC,
    memory.persona_id DESC,
    memory.state DESC,
    memory.said_at DESC,
    memory.id DESC
  LIMIT $limit
}
RETURN memory {.id, .text, .token_estimate, .said_at, .passage, .shape_memories, .source_id} AS memory
ORDER BY memory.said_at DESC, memory.id
LIMIT $limit
