// Make a copied persona visible. Flags set or taken back while it was made, and people the source has met, are
// carried over first.
//
// $tenant_id      string
// $persona_id     string
// $copy_id        string
// $worker         string
// $next_night_at  zoned datetime
//
// Returns id; nothing when another worker holds the source persona.
CYPHER 25
MATCH (source:Persona {tenant_id: $tenant_id, id: $persona_id})
WHERE source.run_worker = $worker
MATCH (copy:Persona {tenant_id: $tenant_id, id: $copy_id})
WHERE copy.copying IS NOT NULL
REMOVE source.run_worker, source.run_until, copy.copying
SET
  copy.people = source.people,
  copy.next_night_at = $next_night_at
WITH copy
CALL () {
  MATCH (memory:Memory)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.state IS NOT NULL
  MATCH (copied:Memory {tenant_id: $tenant_id, persona_id: $copy_id, copied_from: memory.id})
  WHERE copied.weight_modifier <> memory.weight_modifier OR copied.flagged <> memory.flagged
  SET
    copied.weight_modifier = memory.weight_modifier,
    copied.own_modifier = memory.weight_modifier,
    copied.minimized = memory.minimized,
    copied.flagged = memory.flagged,
    copied.own_flagged = CASE WHEN memory.flagged THEN true END
  WITH copied
  OPTIONAL MATCH
    // fragment: link_types
    (copied)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->(other)
  SET link.weight_modifier = copied.weight_modifier
  WITH collect(copied) + collect(other) AS items
  UNWIND items AS item
  RETURN collect(DISTINCT item) AS items
}
CALL () {
  // What a shape speaks of may have been flagged after the shape was copied.
  MATCH (direct:ForgottenShape)
    USING INDEX SEEK direct:ForgottenShape(tenant_id, persona_id, formed_at, id)
  WHERE
    direct.tenant_id = $tenant_id AND
    direct.persona_id = $copy_id AND
    direct.formed_at IS NOT NULL AND
    direct.id IS NOT NULL // an index is used only if the condition names all its properties
  MATCH (source)-[:SHAPED_INTO]->(direct)
  WHERE source.flagged OR source.state <> 'archived'
  MATCH (source)-[:SHAPED_INTO*1..3]->(shape)
  WHERE shape.state <> 'withdrawn'
  RETURN collect(DISTINCT shape) AS shapes
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
WITH
  copy,
  [item IN items + unlinked | item {.tenant_id, .persona_id, .id}] +
    [shape IN withdrawn | shape {.tenant_id, .persona_id, .id, content: true}] AS changed
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
RETURN copy.id AS id
