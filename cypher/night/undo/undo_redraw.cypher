// Withdraw a shape that a run has drawn again, with the sources and the date it had before.
//
// $tenant_id   string
// $id          string
// $source_ids  list of strings
// $fades_at    zoned datetime or null
// $decayed_at  zoned datetime: when it was drawn before
//
// Returns shape_ids: its id, nothing when it is withdrawn already; linked_ids: ids of the memories that it was linked
// with.
CYPHER 25
MATCH (shape:Memory {tenant_id: $tenant_id, id: $id})
MATCH (shape)-[:FELT_AS]->(experience:ShapeExperience)
SET
  shape.fades_at = $fades_at,
  experience.decayed_at = $decayed_at
WITH shape
CALL (shape) {
  UNWIND $source_ids AS source_id
  MATCH (source:Memory {tenant_id: $tenant_id, id: source_id})
  WHERE NOT EXISTS { (source)-[:SHAPED_INTO]->() }
  CREATE (source)-[:SHAPED_INTO]->(shape)
}
WITH CASE WHEN shape.state = 'withdrawn' THEN [] ELSE [shape] END AS shapes
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
