// An archived memory that faded by itself, or a shape of what did: the first from an id on, or else the first of all.
// What somebody archived, minimized or flagged is not returned.
//
// $tenant_id   string
// $persona_id  string
// $from_id     string
//
// Returns memory; nothing when none has faded.
CYPHER 25
CALL () {
  MATCH (memory:Memory)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.state = 'archived' AND
    memory.id >= $from_id AND
    memory.flagged = false AND
    memory.minimized = false AND
    NOT EXISTS { (memory)<-[:ABOUT]-(:Event {action: 'archived'}) }
  RETURN memory, 0 AS round
  ORDER BY memory.id
  LIMIT 1
  UNION ALL
  MATCH (memory:Memory)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.state = 'archived' AND
    memory.id < $from_id AND
    memory.flagged = false AND
    memory.minimized = false AND
    NOT EXISTS { (memory)<-[:ABOUT]-(:Event {action: 'archived'}) }
  RETURN memory, 1 AS round
  ORDER BY memory.id
  LIMIT 1
}
RETURN memory {.id, .text, .token_estimate, .said_at, .passage, .shape_memories} AS memory
ORDER BY round
LIMIT 1
