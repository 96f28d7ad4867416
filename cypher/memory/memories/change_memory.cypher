// Change whether a memory is pinned, its importance, tags or project. The next run computes again when it
// fades.
//
// $tenant_id  string
// $memory_id  string
// $changes    map, any of {pinned, importance, tags, project: null takes it out of its project}
// $event      map {id, action, by, at, before, after}
//
// Returns id; nothing when there is none.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
SET
  memory += $changes,
  // Recall finds tagged memories by this, since an index cannot look into a list.
  memory.tagged = CASE WHEN coalesce($changes.tags, memory.tags, []) <> [] THEN true END,
  memory.idle_importance = coalesce($changes.importance, memory.idle_importance),
  memory.idle_since =
    CASE WHEN $changes.importance IS NULL THEN memory.idle_since ELSE $event.at END,
  memory.fades_at = CASE WHEN memory.state = 'active' THEN $event.at END
CREATE
  (event:Event {tenant_id: $tenant_id, written_at: datetime.realtime()})-[:ABOUT]->(memory)
SET event += $event
WITH memory, [memory {.tenant_id, .persona_id, .id}] AS changed
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
RETURN memory.id AS id
