// Record one step of a run: what it did, and all that is needed to undo it.
//
// $tenant_id    string
// $persona_id   string
// $run_id       string
// $place        integer
// $stage        string
// $did          string, JSON: counts
// $changes      string, JSON: by kind, lists of maps
// $changed_ids  list of strings: items that it has changed, for the change log
// $content      boolean: whether one of these is new
CYPHER 25
MATCH (run:Run {tenant_id: $tenant_id, id: $run_id})
MERGE (step:Step {tenant_id: $tenant_id, run_id: $run_id, place: $place})
SET
  step.stage = $stage,
  step.did = $did,
  step.changes = $changes
MERGE (run)-[:DID]->(step)
WITH
  [
    id IN $changed_ids |
    {tenant_id: $tenant_id, persona_id: $persona_id, id: id, content: $content}
  ] AS changed
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
