// Take a memory out of what is recalled by itself. It stays, and can come back.
//
// $tenant_id  string
// $memory_id  string
// $event      map {id, action, by, at}
//
// Returns changed: false when it was in the archive already. Nothing when there is no such memory.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
SET memory.lock = true
REMOVE memory.lock
WITH memory, memory.state = 'active' AS changed
FOREACH (it IN CASE WHEN changed THEN [memory] ELSE [] END |
  SET
    it.state = 'archived',
    it.archived_at = $event.at,
    it.salience = it.salience / 2
  REMOVE it.fades_at
  CREATE
    (:Event {
      tenant_id: $tenant_id,
      id: $event.id,
      action: $event.action,
      by: $event.by,
      at: $event.at,
      before: 'active',
      after: 'archived'
    })-[:ABOUT]->(it)
)
RETURN changed
