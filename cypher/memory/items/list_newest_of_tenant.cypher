// The next items of a tenant by when they were said, the newest first.
//
// $tenant_id   string
// $after_time  zoned datetime: of the last item that was read before
// $after_id    string: of the same
// $limit       integer
//
// Returns id, key: when it was said.
CYPHER 25
CALL () {
  MATCH (item:Memory)
    USING INDEX SEEK item:Memory(tenant_id, said_at, id)
  WHERE
    item.tenant_id = $tenant_id AND
    item.said_at <= $after_time AND
    item.id IS NOT NULL AND
    // Not an OR, which would be looked up in two indexes.
    CASE WHEN item.said_at = $after_time THEN item.id < $after_id ELSE true END
  RETURN item
  ORDER BY item.tenant_id DESC, item.said_at DESC, item.id DESC
  LIMIT $limit
  UNION ALL
  MATCH (item:Candidate)
    USING INDEX SEEK item:Candidate(tenant_id, said_at, id)
  WHERE
    item.tenant_id = $tenant_id AND
    item.said_at <= $after_time AND
    item.id IS NOT NULL AND
    // Not an OR, which would be looked up in two indexes.
    CASE WHEN item.said_at = $after_time THEN item.id < $after_id ELSE true END
  RETURN item
  ORDER BY item.tenant_id DESC, item.said_at DESC, item.id DESC
  LIMIT $limit
}
RETURN item.id AS id, item.said_at AS key
ORDER BY key DESC, id DESC
LIMIT $limit
