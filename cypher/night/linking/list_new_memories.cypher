// The next memories that wait for links, in the order they were said, with the memories nearest in meaning and
// those from just before and after in the conversation.
//
// $tenant_id   string
// $persona_id  string
// $limit       integer
// $near        integer: how many memories near each, itself included
//
// Returns memory; near, maps {id, said_at, source_id, similarity, known_share}; previous and next, maps {id, said_at} or
// null.
CYPHER 25
MATCH (memory:Memory)
  USING INDEX SEEK memory:Memory(tenant_id, persona_id, awaits, said_at, id)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.awaits = 'links' AND
  memory.said_at IS NOT NULL AND
  memory.id IS NOT NULL // an index is used only if the condition names all its properties
WITH memory
// Ordered by all properties of the index, so that it is read in its order and only up to the limit.
ORDER BY memory.tenant_id, memory.persona_id, memory.awaits, memory.said_at, memory.id
LIMIT $limit
CALL (memory) {
  MATCH (other:Memory)
    SEARCH other IN (
      VECTOR INDEX meaning
      FOR memory.embedding
      WHERE
        other.tenant_id = $tenant_id AND
        other.persona_id = $persona_id AND
        other.state = 'active' AND
        // What shapes are linked with follows from their sources.
        other.memory_type IN ['episodic', 'semantic', 'somatic']
      LIMIT $near
    ) SCORE AS score
  WITH memory, other
  WHERE other <> memory
  WITH other, 2 * vector.similarity.cosine(other.embedding, memory.embedding) - 1 AS similarity
  ORDER BY similarity DESC, other.id
  RETURN collect(other {.id, .said_at, .source_id, .known_share, similarity: similarity}) AS near
}
CALL (memory) {
  CALL (memory) {
    MATCH (earlier:Memory)
      USING INDEX SEEK earlier:Memory(tenant_id, persona_id, conversation_id, memory_type, said_at, id)
    WHERE
      earlier.tenant_id = $tenant_id AND
      earlier.persona_id = $persona_id AND
      earlier.conversation_id = memory.conversation_id AND
      earlier.memory_type = memory.memory_type AND
      earlier.said_at <= memory.said_at AND
      earlier.id IS NOT NULL AND
      // Not an OR, which would be looked up in two indexes.
      CASE WHEN earlier.said_at = memory.said_at THEN earlier.id < memory.id ELSE true END
    RETURN earlier
    // Ordered by all properties of the index, so that it is read in its order and only up to the limit.
    ORDER BY
      earlier.tenant_id DESC,
      earlier.persona_id DESC,
      earlier.conversation_id DESC,
      earlier.memory_type DESC,
      earlier.said_at DESC,
      earlier.id DESC
    LIMIT 1
  }
  RETURN collect(earlier {.id, .said_at})[0] AS previous
}
CALL (memory) {
  CALL (memory) {
    MATCH (later:Memory)
      USING INDEX SEEK later:Memory(tenant_id, persona_id, conversation_id, memory_type, said_at, id)
    WHERE
      later.tenant_id = $tenant_id AND
      later.persona_id = $persona_id AND
      later.conversation_id = memory.conversation_id AND
      later.memory_type = memory.memory_type AND
      later.said_at >= memory.said_at AND
      later.id IS NOT NULL AND
      // Not an OR, which would be looked up in two indexes.
      CASE WHEN later.said_at = memory.said_at THEN later.id > memory.id ELSE true END
    RETURN later
    // Ordered by all properties of the index, so that it is read in its order and only up to the limit.
    ORDER BY
      later.tenant_id,
      later.persona_id,
      later.conversation_id,
      later.memory_type,
      later.said_at,
      later.id
    LIMIT 1
  }
  RETURN collect(later {.id, .said_at})[0] AS next
}
RETURN
  memory {
    .id,
    .memory_type,
    .category,
    .fact,
    .said_at,
    .source_id,
    .passage,
    .embedding,
    .known_share
  } AS memory,
  near,
  previous,
  next
ORDER BY memory.said_at, memory.id
