// A page of the archived memories that are not flagged and that no shape speaks of, in the order of their ids.
//
// $tenant_id   string
// $persona_id  string
// $after       string: the last id of the page before, or an empty string
// $limit       integer
// $characters  integer: how much of a text is read
//
// Returns source: a map {id, text, about, said_at, weight, access_count, valence, arousal, embedding}.
CYPHER 25
MATCH (memory:Memory)
  USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, id)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.state = 'archived' AND
  memory.id > $after AND
  NOT memory.flagged AND
  memory.memory_type <> 'forgotten_shape' AND
  NOT EXISTS { (memory)-[:SHAPED_INTO]->() }
WITH memory
// Ordered by all properties of the index, so that it is read in its order and only up to the limit.
ORDER BY memory.tenant_id, memory.persona_id, memory.state, memory.id
LIMIT $limit
RETURN
  memory {
    .id,
    text: left(memory.text, $characters),
    .about,
    .said_at,
    weight: coalesce(memory.idle_importance, memory.importance),
    .access_count,
    .valence,
    .arousal,
    .embedding
  } AS source
