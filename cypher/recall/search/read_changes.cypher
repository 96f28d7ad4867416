// What has changed among the items of a persona since a revision that a cache has seen.
//
// $tenant_id   string
// $persona_id  string
// $since       integer: the revision that was seen; -1 for none
// $limit       integer: ids that are returned at most
//
// Returns revision: all up to it is told, and whatever is read from now on shows it; 0 when nothing was ever
// logged. item_ids: what has changed, each once. content: whether any of them is new, or its text or vectors are.
// reload: whether anything may have changed: more than the limit has, or the log does not reach back.
//
// While nothing has changed, one node is read. Else the log is locked for as long as this takes: a revision
// can be read while its transaction is still being applied, and the lock is given back after that.
CYPHER 25
OPTIONAL MATCH (log:ChangeLog {tenant_id: $tenant_id, persona_id: $persona_id})
WITH log, coalesce(log.revision, 0) AS seen
CALL (log, seen) {
  WITH log, seen
  WHERE seen = $since OR log IS NULL
  RETURN
    seen AS revision,
    [] AS item_ids,
    false AS content,
    seen <> $since AS reload
  UNION
  WITH log, seen
  WHERE seen <> $since AND log IS NOT NULL
  SET log.lock = true
  REMOVE log.lock
  // Read as one map: a property that is named may have been read before the lock.
  WITH properties(log).revision AS revision
  CALL () {
    MATCH (change:Change)
    WHERE
      change.tenant_id = $tenant_id AND
      change.persona_id = $persona_id AND
      change.revision > $since AND
      $since >= 0
    RETURN
      count(change) AS found,
      collect(change.item_ids) AS lists,
      true IN collect(change.content) AS content
  }
  CALL (lists) {
    UNWIND lists AS ids
    UNWIND ids AS id
    WITH DISTINCT id
    LIMIT $limit + 1
    RETURN collect(id) AS item_ids
  }
  WITH
    revision,
    content,
    item_ids,
    found <> revision - $since OR size(lists) < found OR size(item_ids) > $limit AS reload
  RETURN
    revision,
    CASE WHEN reload THEN [] ELSE item_ids END AS item_ids,
    content,
    reload
}
RETURN revision, item_ids, content, reload
