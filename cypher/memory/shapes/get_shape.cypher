// One shape with its experience, whatever its state, if the caller may see it.
//
// $tenant_id     string
// $shape_id      string
// $user_id       string or null: with a user, only if all its messages are in instances they are a member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
//
// Returns shape; nothing when there is none for this caller.
CYPHER 25
MATCH (shape:ForgottenShape:Memory {tenant_id: $tenant_id, id: $shape_id})
WHERE
  // fragment: visible_item (item → shape)
  ($user_id IS NULL OR
    (EXISTS { (shape)-[:DRAWN_FROM]->() } AND
      NOT EXISTS {
        MATCH (shape)-[:DRAWN_FROM]->()<-[:CONTAINS]-()<-[:HOLDS]-(instance)
        WHERE
          NOT instance.id IN coalesce($instance_ids, [instance.id]) OR
          NOT EXISTS {
            (:User {tenant_id: $tenant_id, id: $user_id})-[:MEMBER_OF]->(instance)
          }
      }))
  // end: visible_item
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
