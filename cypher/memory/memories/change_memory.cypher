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
RETURN memory.id AS id
