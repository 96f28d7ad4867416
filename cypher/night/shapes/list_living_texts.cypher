// The newest living memories of a persona, to see which words are common in its life; of each message one.
//
// $tenant_id   string
// $persona_id  string
// $limit       integer
// $characters  integer: how much of a text is read
//
// Returns texts: lists of id, about and text.
CYPHER 25
MATCH (memory:Memory)
  USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, said_at)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.state = 'active' AND
  memory.said_at IS NOT NULL AND // an index is used only if the condition names all its properties
  NOT memory.flagged AND
  memory.memory_type = 'episodic'
WITH memory
// Ordered by all properties of the index, so that it is read in its order and only up to the limit.
ORDER BY
  memory.tenant_id DESC,
  memory.persona_id DESC,
  memory.state DESC,
  memory.said_at DESC
LIMIT $limit
WITH coalesce(memory.source_id, memory.id) AS source_id, collect(memory)[0] AS memory
RETURN collect([memory.id, memory.about, left(memory.text, $characters)]) AS texts
