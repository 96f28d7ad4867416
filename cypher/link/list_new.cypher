// The next new memories that wait for links, in the order they were said, with what is near each: in
// meaning, and in the conversation.
//
// $tenant_id   string
// $persona_id  string
// $limit       integer
// $near        integer, memories looked at for each, itself among them
//
// Returns memory; near, maps {id, said_at, similarity}; previous and next, maps {id, said_at} or null.
CYPHER 25
MATCH (memory:Memory)
  USING INDEX SEEK memory:Memory(tenant_id, persona_id, awaits, said_at, id)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.awaits = 'links' AND
  memory.said_at IS NOT NULL AND
  memory.id IS NOT NULL // an index is used only when all it covers is asked for
WITH memory
ORDER BY memory.said_at, memory.id
LIMIT $limit
CALL (memory) {
  MATCH (other:Memory)
    SEARCH other IN (
      VECTOR INDEX meaning
      FOR memory.embedding
      WHERE
        other.tenant_id = $tenant_id AND
        other.persona_id = $persona_id AND
        other.state = 'active'
      LIMIT $near
    ) SCORE AS score
  WITH memory, other
  WHERE other <> memory
  WITH other, 2 * vector.similarity.cosine(other.embedding, memory.embedding) - 1 AS similarity
  ORDER BY similarity DESC, other.id
  RETURN collect(other {.id, .said_at, similarity: similarity}) AS near
}
CALL (memory) {
  OPTIONAL MATCH (earlier:Memory)
    USING INDEX SEEK earlier:Memory(tenant_id, persona_id, conversation_id, memory_type, said_at)
  WHERE
    earlier.tenant_id = memory.tenant_id AND
    earlier.persona_id = memory.persona_id AND
    earlier.conversation_id = memory.conversation_id AND
    earlier.memory_type = memory.memory_type AND
    earlier.said_at <= memory.said_at AND
    (earlier.said_at < memory.said_at OR earlier.id < memory.id)
  WITH earlier
  ORDER BY earlier.said_at DESC, earlier.id DESC
  LIMIT 1
  RETURN earlier {.id, .said_at} AS previous
}
CALL (memory) {
  OPTIONAL MATCH (later:Memory)
    USING INDEX SEEK later:Memory(tenant_id, persona_id, conversation_id, memory_type, said_at)
  WHERE
    later.tenant_id = memory.tenant_id AND
    later.persona_id = memory.persona_id AND
    later.conversation_id = memory.conversation_id AND
    later.memory_type = memory.memory_type AND
    later.said_at >= memory.said_at AND
    (later.said_at > memory.said_at OR later.id > memory.id)
  WITH later
  ORDER BY later.said_at, later.id
  LIMIT 1
  RETURN later {.id, .said_at} AS next
}
RETURN
  memory {
    .id,
    .memory_type,
    .category,
    .fact,
    .said_at,
    .embedding
  } AS memory,
  near,
  previous,
  next
ORDER BY memory.said_at, memory.id
