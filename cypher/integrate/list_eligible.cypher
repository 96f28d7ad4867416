// The next candidates of a persona that have had their full time, in the order they were said, each
// with the memories nearest to it in meaning.
//
// $tenant_id     string
// $persona_id    string
// $drawn_before  zoned datetime: the editing window of what was drawn later is still open
// $limit         integer
// $near          integer, memories looked at for each
// $similarity    float, cosine from which a memory is worth telling of
//
// Returns candidate; near, maps {id, similarity, about, content, fact, said_at}, the nearest first.
CYPHER 25
MATCH (candidate:Candidate)
WHERE
  candidate.tenant_id = $tenant_id AND
  candidate.persona_id = $persona_id AND
  candidate.state = 'pending' AND
  candidate.said_at IS NOT NULL AND
  candidate.id IS NOT NULL AND // an index is used only when all it covers is asked for
  candidate.extracted_at <= $drawn_before
WITH candidate
ORDER BY candidate.said_at, candidate.id
LIMIT $limit
CALL (candidate) {
  MATCH (memory:Memory)
    SEARCH memory IN (
      VECTOR INDEX meaning
      FOR candidate.embedding
      WHERE
        memory.tenant_id = $tenant_id AND
        memory.persona_id = $persona_id AND
        memory.memory_type = candidate.memory_type AND
        memory.state = 'active'
      LIMIT $near
    ) SCORE AS score
  WITH memory, 2 * vector.similarity.cosine(memory.embedding, candidate.embedding) - 1 AS similarity
  WHERE similarity >= $similarity AND memory.state = 'active'
  ORDER BY similarity DESC, memory.id
  RETURN collect(memory {.id, .about, .content, .fact, .said_at, similarity: similarity}) AS near
}
RETURN
  candidate {
    .id,
    .memory_type,
    .category,
    .about,
    .content,
    .fact,
    .said_at,
    .embedding
  } AS candidate,
  near
ORDER BY candidate.said_at, candidate.id
