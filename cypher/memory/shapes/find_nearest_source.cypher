// How near a vector is to the nearest memory behind a shape, whatever the number of shapes between.
//
// $tenant_id  string
// $shape_id   string
// $embedding  vector
//
// Returns cosine: from -1 to 1; null when nothing is behind it.
CYPHER 25
MATCH (shape:Memory {tenant_id: $tenant_id, id: $shape_id})
OPTIONAL MATCH (source:Memory)-[:SHAPED_INTO*1..3]->(shape)
WHERE source.embedding IS NOT NULL AND source.memory_type <> 'forgotten_shape'
RETURN
  2 * max(vector.similarity.cosine(source.embedding, toFloatList($embedding))) - 1 AS cosine
