// Withdraw the shapes that speak of some memories, and the shapes of these shapes.
//
// $tenant_id   string
// $memory_ids  list of strings
//
// Returns shape_ids: those that were withdrawn now; linked_ids: ids of the memories that they were linked with.
CYPHER 25
CALL () {
  UNWIND $memory_ids AS id
  MATCH (:Memory {tenant_id: $tenant_id, id: id})-[:SHAPED_INTO*1..3]->(shape:Memory)
  WITH DISTINCT shape
  ORDER BY shape.id
  // Lock before reading: the night may just be drawing it.
  SET shape.lock = true
  REMOVE shape.lock
  WITH shape, properties(shape).state AS state
  WHERE state <> 'withdrawn'
  RETURN collect(shape) AS shapes
}
// fragment: withdrawn_shapes
CALL (shapes) {
  UNWIND shapes AS shape
  SET
    shape.withdrawn_state = shape.state,
    shape.state = 'withdrawn',
    shape.text = '',
    shape.content = '{}',
    shape.token_estimate = 0,
    shape.shape_memories = 0
  REMOVE shape.embedding, shape.packed_vectors, shape.known_share
  WITH shape
  MATCH (shape)-[:FELT_AS]->(experience:ShapeExperience)
  SET
    experience.connected_themes = '',
    experience.felt_absence = '',
    experience.emotional_residue = 0.0,
    experience.temporal_marker = '',
    experience.sense_of_loss = ''
  WITH shape
  CALL (shape) {
    // What was said of it when it was recalled may name what it spoke of.
    MATCH (recall:Recall)-[:RECALLED]->(shape)
    SET recall.response = ''
  }
  OPTIONAL MATCH
    (shape)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(other:Memory)
  DELETE link
  RETURN collect(DISTINCT shape) AS withdrawn, collect(DISTINCT other) AS unlinked
}
// end: withdrawn_shapes
RETURN [shape IN withdrawn | shape.id] AS shape_ids, [other IN unlinked | other.id] AS linked_ids
