// What of a persona is fading next: its memories in the order in which a night will look at them.
//
// $tenant_id   string
// $persona_id  string
// $limit       integer
//
// Returns at: the night from then on; then: what it will do, unless the memory is used before; text; importance;
// memory.
CYPHER 25
MATCH (memory:Memory)
  USING INDEX SEEK memory:Memory(tenant_id, persona_id, fades_at)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.fades_at IS NOT NULL AND
  memory.state = 'active' AND
  NOT memory.pinned
WITH memory
ORDER BY memory.fades_at, memory.id
LIMIT $limit
RETURN
  memory.fades_at AS at,
  CASE WHEN memory.importance > 1 THEN 'loses importance' ELSE 'is archived' END AS then,
  memory.text AS text,
  memory.importance AS importance,
  memory
ORDER BY at, memory.id
