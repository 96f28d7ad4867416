// Delete some of the oldest changes of a persona that no cache will ask for. The newest always stays.
//
// $tenant_id   string
// $persona_id  string
// $seconds     integer: how long a change is kept
// $limit       integer, changes that are looked at
//
// Returns deleted: how many were.
CYPHER 25
MATCH (log:ChangeLog {tenant_id: $tenant_id, persona_id: $persona_id})
CALL (log) {
  MATCH (change:Change)
  WHERE
    change.tenant_id = $tenant_id AND
    change.persona_id = $persona_id AND
    change.revision < log.revision
  WITH change
  // Ordered by all properties of the index, so that it is read in its order and only up to the limit.
  ORDER BY change.tenant_id, change.persona_id, change.revision
  LIMIT $limit
  WITH change
  WHERE change.at < datetime.realtime() - duration({seconds: $seconds})
  DELETE change
  RETURN count(*) AS deleted
}
RETURN deleted
