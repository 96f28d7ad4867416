// Bring a memory back from the archive. That counts as an access, so that it is not sent there again.
//
// $tenant_id  string
// $memory_id  string
// $event      map {id, action, by, at}
//
// Returns changed: false when it was active already. Nothing when there is no such memory.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
SET memory.lock = true
REMOVE memory.lock
WITH memory, memory.state = 'archived' AS changed
FOREACH (it IN CASE WHEN changed THEN [memory] ELSE [] END |
  SET
    it.state = 'active',
    it.salience = CASE WHEN it.salience > 0.5 THEN 1.0 ELSE it.salience * 2 END,
    it.access_count = it.access_count + 1,
    it.accessed_at = $event.at,
    it.idle_since = $event.at,
    it.idle_importance = it.importance,
    it.fades_at = $event.at
  REMOVE it.archived_at
  CREATE
    (:Event {
      tenant_id: $tenant_id,
      id: $event.id,
      action: $event.action,
      by: $event.by,
      at: $event.at,
      before: 'archived',
      after: 'active'
    })-[:ABOUT]->(it)
)
RETURN changed
