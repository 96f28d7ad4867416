// Read what a rumour may be made of: a shape that is about to be shared, under its lock. Gives it the key from which
// the ids of its rumours follow, if it has none, and records whom it is shared with, once.
//
// $tenant_id   string
// $shape_id    string
// $persona_id  string: whom it is shared with
// $key         string: for a shape without a key
// $event       map {id, action, by, at}
//
// Returns shape: a map {id, persona_id, state, key, content, themes, residue}. No row when there is no such shape.
CYPHER 25
MATCH (shape:ForgottenShape:Memory {tenant_id: $tenant_id, id: $shape_id})
SET shape.lock = true
REMOVE shape.lock
WITH shape
SET shape.share_key = coalesce(properties(shape).share_key, $key)
FOREACH (once IN
  CASE WHEN EXISTS { (shape)<-[:ABOUT]-(:Event {action: $event.action, after: $persona_id}) }
    THEN []
    ELSE [1]
  END |
  CREATE
    (:Event {
      tenant_id: $tenant_id,
      id: $event.id,
      action: $event.action,
      by: $event.by,
      at: $event.at,
      written_at: datetime.realtime(),
      after: $persona_id
    })-[:ABOUT]->(shape)
)
WITH shape
MATCH (shape)-[:FELT_AS]->(experience:ShapeExperience)
RETURN
  shape {
    .id,
    .persona_id,
    .state,
    .content,
    key: shape.share_key,
    themes: experience.connected_themes,
    residue: experience.emotional_residue
  } AS shape
