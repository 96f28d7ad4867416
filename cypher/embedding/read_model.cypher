// The model that makes this graph's vectors.
//
// Returns model, dimensions; nothing while no model was claimed.
CYPHER 25
MATCH (embedding:EmbeddingModel {id: 'current'})
RETURN embedding.name AS model, embedding.dimensions AS dimensions
