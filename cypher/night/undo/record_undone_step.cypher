// Record that a step was undone, and what of it could not be.
//
// $tenant_id    string
// $persona_id   string
// $run_id       string
// $place        integer
// $as_of        zoned datetime
// $kept         list of strings, one for each thing that has changed since and was left so
// $changed_ids  list of strings: items that the undo has changed, for the change log
// $content      boolean: whether the text or vectors of one of these are other than before
CYPHER 25
MATCH (step:Step {tenant_id: $tenant_id, run_id: $run_id, place: $place})
SET
  step.undone_at = $as_of,
  step.kept = $kept
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
