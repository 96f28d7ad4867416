// The next candidates of a persona whose editing window is over, in the order they were said, each with the
// memories nearest in meaning that it may be merged into: active, not flagged, not ended.
//
// $tenant_id     string
// $persona_id    string
// $drawn_before  zoned datetime: the editing window of what was drawn later is still open
// $limit         integer
// $near          integer: how many memories for each
// $similarity    float, cosine from which a memory is returned
// $legible       float, share of a text that the encoder must know for its vector to be compared
//
// Returns candidate; near, maps {id, similarity, about, fact, said_at, source_id, text}, the nearest first. `text` is
// null, unless texts are compared: of passages, and when the encoder knows too little of one of the two.
CYPHER 25
// fragment: eligible_candidates
MATCH (candidate:Candidate)
  USING INDEX SEEK candidate:Candidate(tenant_id, persona_id, state, said_at, id)
WHERE
  candidate.tenant_id = $tenant_id AND
  candidate.persona_id = $persona_id AND
  candidate.state = 'pending' AND
  candidate.said_at IS NOT NULL AND
  candidate.id IS NOT NULL AND // an index is used only if the condition names all its properties
  candidate.extracted_at <= $drawn_before AND
  candidate.set_aside_at IS NULL
WITH candidate
// Ordered by all properties of the index, so that it is read in its order and only up to the limit.
ORDER BY
  candidate.tenant_id,
  candidate.persona_id,
  candidate.state,
  candidate.said_at,
  candidate.id
// end: eligible_candidates
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
        memory.state = 'active' AND
        memory.flagged = false
      LIMIT $near
    ) SCORE AS score
  WITH memory, 2 * vector.similarity.cosine(memory.embedding, candidate.embedding) - 1 AS similarity
  WHERE
    similarity >= $similarity AND
    memory.state = 'active' AND
    NOT memory.flagged AND
    memory.valid_to IS NULL
  ORDER BY similarity DESC, memory.id
  RETURN
    collect(memory {
      .id,
      .about,
      .fact,
      .said_at,
      .source_id,
      similarity: similarity,
      text:
        CASE
          WHEN candidate.passage IS NOT NULL THEN memory.text
          WHEN coalesce(memory.known_share, 1.0) < $legible THEN memory.text
          WHEN coalesce(candidate.known_share, 1.0) < $legible THEN memory.text
        END
    }) AS near
}
RETURN
  candidate {
    .id,
    .memory_type,
    .category,
    .about,
    .text,
    .content,
    .fact,
    .said_at,
    .source_id,
    .passage,
    .embedding,
    .known_share
  } AS candidate,
  near
ORDER BY candidate.said_at, candidate.id
