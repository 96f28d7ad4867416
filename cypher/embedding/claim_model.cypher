// Record which model makes this graph's vectors. The first call decides.
//
// $model       string
// $dimensions  integer
//
// Returns model, dimensions: the recorded ones.
CYPHER 25
MERGE (embedding:EmbeddingModel {id: 'current'})
  ON CREATE SET
    embedding.name = $model,
    embedding.dimensions = $dimensions,
    embedding.claimed_at = datetime()
RETURN embedding.name AS model, embedding.dimensions AS dimensions
