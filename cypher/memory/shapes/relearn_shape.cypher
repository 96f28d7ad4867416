// Make all archived memories behind a shape active again, whatever the number of shapes between; flagged ones stay
// archived. What is active already stays as it is.
//
// $tenant_id  string
// $shape_id   string
// $event      map {id, action, by, at}
//
// Returns persona_id; changed_ids: ids of the memories that are active now and were not; active_ids: ids of those that
// were active already. No row when there is no such shape.
CYPHER 25
MATCH (shape:ForgottenShape:Memory {tenant_id: $tenant_id, id: $shape_id})
CALL (shape) {
  MATCH (memory:Memory)-[:SHAPED_INTO*1..3]->(shape)
  WHERE memory.memory_type <> 'forgotten_shape'
  WITH DISTINCT memory
  ORDER BY memory.id
  // Lock before reading, memories before shapes, as all do that draw or withdraw.
  SET memory.lock = true
  REMOVE memory.lock
  WITH memory, properties(memory) AS stored
  WHERE NOT stored.flagged
  RETURN
    collect(CASE WHEN stored.state = 'archived' THEN memory END) AS archived,
    collect(CASE WHEN stored.state = 'active' THEN memory.id END) AS active_ids
}
FOREACH (memory IN archived |
  SET
    // fragment: remembered_again
    memory.state = 'active',
    memory.salience = CASE WHEN memory.salience > 0.5 THEN 1.0 ELSE memory.salience * 2 END,
    memory.access_count = memory.access_count + 1,
    memory.accessed_at = $event.at,
    memory.idle_since = $event.at,
    memory.idle_importance = memory.importance,
    memory.fades_at = $event.at
    // end: remembered_again
  REMOVE memory.archived_at
)
FOREACH (once IN CASE WHEN archived = [] THEN [] ELSE [1] END |
  CREATE
    (event:Event {
      tenant_id: $tenant_id,
      id: $event.id,
      action: $event.action,
      by: $event.by,
      at: $event.at,
      written_at: datetime.realtime(),
      before: 'archived',
      after: 'active'
    })
  CREATE (event)-[:ABOUT]->(shape)
  FOREACH (memory IN archived | CREATE (event)-[:ABOUT]->(memory))
)
RETURN
  shape.persona_id AS persona_id,
  [memory IN archived | memory.id] AS changed_ids,
  active_ids
