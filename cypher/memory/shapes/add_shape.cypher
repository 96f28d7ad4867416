// Add a shape by hand, with its experience and without sources. Doing it twice keeps the first.
//
// $tenant_id   string
// $persona_id  string
// $shape       map {id, title, text, content, said_at, fades_at, packed_vectors, token_estimate, known_share,
//              search_scope, drawn_by, importance, idle_importance}
// $embedding   vector
// $experience  map {connected_themes, felt_absence, emotional_residue, temporal_marker, sense_of_loss}
// $event       map {id, action, by, at}
//
// Returns taken: whether a candidate or another memory has this id, and nothing was added; kept: the shape that has
// it now, a map {persona_id, text, connected_themes, felt_absence, emotional_residue, temporal_marker, sense_of_loss}.
// No row when there is no such persona.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE persona.copying IS NULL
WITH
  persona,
  EXISTS { (:Candidate {tenant_id: $tenant_id, id: $shape.id}) } OR
  EXISTS {
    MATCH (other:Memory {tenant_id: $tenant_id, id: $shape.id})
    WHERE other.memory_type <> 'forgotten_shape'
  } AS taken
CALL (persona, taken) {
  WITH persona
  WHERE NOT taken
  MERGE (shape:Memory {tenant_id: $tenant_id, id: $shape.id})
    ON CREATE SET
      shape += $shape,
      shape.fresh = true,
      shape.persona_id = $persona_id,
      shape.memory_type = 'forgotten_shape',
      shape.embedding = toFloatList($embedding),
      shape.shape_depth = 1,
      shape.shape_memories = 0,
      shape.flagged = false,
      shape.minimized = false,
      shape.state = 'active',
      shape.formed_at = $event.at,
      shape.idle_since = $event.at,
      shape.salience = 0.5,
      shape.salience_at = $event.at,
      shape.uses_today = 0,
      shape.access_count = 0,
      shape.reinforcements = 0,
      shape.weight_modifier = 1.0,
      shape.pinned = false
  WITH persona, shape
  WHERE shape.fresh
  REMOVE shape.fresh
  SET shape:ForgottenShape
  MERGE (persona)-[:REMEMBERS]->(shape)
  CREATE
    (shape)-[:FELT_AS]->
    (experience:ShapeExperience {
      tenant_id: $tenant_id,
      id: $shape.id,
      persona_id: $persona_id,
      decayed_at: $event.at
    })
  SET experience += $experience
  CREATE
    (:Event {
      tenant_id: $tenant_id,
      id: $event.id,
      action: $event.action,
      by: $event.by,
      at: $event.at,
      written_at: datetime.realtime(),
      after: '{"memory_type": "forgotten_shape"}'
    })-[:ABOUT]->(shape)
  RETURN collect(shape {.tenant_id, .persona_id, .id, content: true}) AS changed
}
// fragment: log_changes
CALL (changed) {
  UNWIND changed AS change
  WITH
    change.tenant_id AS tenant_id,
    change.persona_id AS persona_id,
    collect(DISTINCT change.id) AS item_ids,
    true IN collect(change.content) AS content
  ORDER BY tenant_id, persona_id
  MERGE (log:ChangeLog {tenant_id: tenant_id, persona_id: persona_id})
    ON CREATE SET log.revision = 0
  SET log.lock = true
  REMOVE log.lock
  // Read as one map: a property that is named may have been read before the lock.
  WITH log, item_ids, content, properties(log).revision + 1 AS revision
  SET log.revision = revision
  CREATE
    (:Change {
      tenant_id: log.tenant_id,
      persona_id: log.persona_id,
      revision: revision,
      at: datetime.realtime(),
      // Of more, a cache reads everything again.
      item_ids: CASE WHEN size(item_ids) <= 2000 THEN item_ids END,
      content: content
    })
}
// end: log_changes
WITH taken
OPTIONAL MATCH (kept:ForgottenShape:Memory {tenant_id: $tenant_id, id: $shape.id})
OPTIONAL MATCH (kept)-[:FELT_AS]->(experience:ShapeExperience)
RETURN
  taken,
  kept {
    .persona_id,
    .text,
    connected_themes: experience.connected_themes,
    felt_absence: experience.felt_absence,
    emotional_residue: experience.emotional_residue,
    temporal_marker: experience.temporal_marker,
    sense_of_loss: experience.sense_of_loss
  } AS kept
