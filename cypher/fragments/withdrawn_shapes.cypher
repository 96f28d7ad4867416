// Withdraw shapes (shapes): they say nothing any more, hold nothing of their sources, and no recall finds them. The
// next night draws them again from what is still lost. Returns withdrawn: the shapes; unlinked: the memories that
// they were linked with.

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
    // fragment: link_types
    (shape)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]-(other:Memory)
  DELETE link
  RETURN collect(DISTINCT shape) AS withdrawn, collect(DISTINCT other) AS unlinked
}
