// One index over the meaning of memories and of candidates that wait, for every search of a persona.
// What a search filters by is in the index, so that it never finds what it then has to drop.
// Vectors are indexed as they are: in a bit a number, the default, a search for ten misses one of them,
// and in a byte their nearness depends on what else is in the index.
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
