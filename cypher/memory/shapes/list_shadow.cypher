// The newest shapes of a persona that say something, and which shape each of them is part of.
//
// $tenant_id   string
// $persona_id  string
// $limit       integer
//
// Returns shape; into_id: the shape it is part of, or null. The newest first.
CYPHER 25
MATCH (shape:ForgottenShape)
  USING INDEX SEEK shape:ForgottenShape(tenant_id, persona_id, formed_at, id)
WHERE
  shape.tenant_id = $tenant_id AND
  shape.persona_id = $persona_id AND
  shape.formed_at IS NOT NULL AND
  shape.id IS NOT NULL AND // an index is used only if the condition names all its properties
  shape.state <> 'withdrawn' AND
  NOT shape.flagged
WITH shape
// Ordered by all properties of the index, so that it is read in its order and only up to the limit.
ORDER BY shape.tenant_id DESC, shape.persona_id DESC, shape.formed_at DESC, shape.id DESC
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
  } AS shape,
  head(
    COLLECT {
      MATCH (shape)-[:SHAPED_INTO]->(into:Memory)
      WHERE into.state <> 'withdrawn'
      RETURN into.id
    }) AS into_id
ORDER BY shape.formed_at DESC, shape.shape_id DESC
