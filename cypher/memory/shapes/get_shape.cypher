// One shape with its experience.
//
// $tenant_id  string
// $shape_id   string
//
// Returns shape; nothing when there is none.
CYPHER 25
MATCH (shape:ForgottenShape:Memory {tenant_id: $tenant_id, id: $shape_id})
MATCH (shape)-[:FELT_AS]->(experience:ShapeExperience)
RETURN
  shape {
    // fragment: shape_properties
    shape_id: shape.id,
    .persona_id,
    .title,
    .text,
    .state,
    .importance,
    depth: shape.shape_depth,
    sources: COUNT { (:Memory {state: 'archived', flagged: false})-[:SHAPED_INTO]->(shape) },
    relearnable: shape.shape_memories,
    .drawn_by,
    .said_at,
    .formed_at,
    .access_count,
    connected_themes: experience.connected_themes,
    felt_absence: experience.felt_absence,
    emotional_residue: experience.emotional_residue,
    temporal_marker: experience.temporal_marker,
    sense_of_loss: experience.sense_of_loss,
    decayed_at: experience.decayed_at
    // end: shape_properties
  } AS shape
