// The shapes of a persona that the caller may see, the newest first.
//
// $tenant_id     string
// $persona_id    string
// $state         string or null: in this state only; without one, all but those that are withdrawn
// $user_id       string or null: with a user, only those all of whose messages are in instances they are
//                a member of
// $instance_ids  list of strings or null: with a list, only these of the user's instances
// $before_at     zoned datetime: of the last shape of the page before, or after all of them
// $before_id     string: its id, or ''
// $limit         integer
//
// Returns shape.
CYPHER 25
MATCH (shape:ForgottenShape)
  USING INDEX SEEK shape:ForgottenShape(tenant_id, persona_id, formed_at, id)
WHERE
  shape.tenant_id = $tenant_id AND
  shape.persona_id = $persona_id AND
  shape.formed_at <= $before_at AND
  shape.id IS NOT NULL AND
  (shape.formed_at < $before_at OR shape.id < $before_id) AND
  (shape.state = $state OR ($state IS NULL AND shape.state <> 'withdrawn')) AND
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
  } AS shape
ORDER BY shape.formed_at DESC, shape.shape_id DESC
