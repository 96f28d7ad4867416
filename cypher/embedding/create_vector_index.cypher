// The vector index over memories and candidates, for every search of a persona. It holds the properties that
// searches filter by, so that a search never returns what has to be dropped afterwards. Vectors are not
// quantized: with one bit per number, the default, a search for ten misses one of them; with a byte, similarity
// depends on what else is in the index.
//
// $dimensions  integer, of the model that makes the vectors
CYPHER 25
CREATE VECTOR INDEX meaning IF NOT EXISTS
FOR (memory:Candidate|Memory)
ON memory.embedding
WITH [
  memory.tenant_id,
  memory.persona_id,
  memory.state,
  memory.memory_type,
  memory.flagged,
  memory.minimized,
  memory.category,
  memory.said_at
]
OPTIONS {
  indexConfig: {
    `vector.dimensions`: $dimensions,
    `vector.similarity_function`: 'cosine',
    `vector.quantization.type`: 'NONE'
  }
}
