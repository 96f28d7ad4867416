// Pin a memory that is held, say how important it is, or file it. The next run computes anew when it
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
  // Found by recall, which cannot look into a list by an index.
  memory.tagged = CASE WHEN coalesce($changes.tags, memory.tags, []) <> [] THEN true END,
  memory.idle_importance = coalesce($changes.importance, memory.idle_importance),
  memory.idle_since =
    CASE WHEN $changes.importance IS NULL THEN memory.idle_since ELSE $event.at END,
  memory.fades_at = CASE WHEN memory.state = 'active' THEN $event.at END
CREATE
  (event:Event {tenant_id: $tenant_id, written_at: datetime.realtime()})-[:ABOUT]->(memory)
SET event += $event
RETURN memory.id AS id
