// The shapes of a persona that are not withdrawn, by id, the last first.
//
// $tenant_id   string
// $persona_id  string
// $before      string: an id, or what is after all ids
// $limit       integer
//
// Returns shape.
CYPHER 25
MATCH (shape:ForgottenShape)
  USING INDEX SEEK shape:ForgottenShape(tenant_id, persona_id, formed_at, id)
WHERE
  shape.tenant_id = $tenant_id AND
  shape.persona_id = $persona_id AND
  shape.formed_at IS NOT NULL AND
  shape.id < $before AND
  shape.state <> 'withdrawn'
WITH shape
ORDER BY shape.id DESC
LIMIT $limit
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
ORDER BY shape.shape_id DESC
