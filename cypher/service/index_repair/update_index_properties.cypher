// Replace the properties that indexes are made over.
//
// $items  list of maps {tenant_id, id, index_properties: map {about, category, fact, valence, arousal}}
CYPHER 25
UNWIND $items AS row
MATCH (item:Candidate|Memory {tenant_id: row.tenant_id, id: row.id})
WITH item, row, item {.about, .category} AS before
SET item += row.index_properties
WITH
  collect(
    CASE
      WHEN
        coalesce(item.about, '') <> coalesce(before.about, '') OR
        coalesce(item.category, '') <> coalesce(before.category, '')
        THEN item {.tenant_id, .persona_id, .id}
    END
  ) AS changed
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
