// The candidates and memories of some facts that were said between two times.
//
// $tenant_id  string
// $rows       list of maps {message_id, persona_id, fact, fact_value, since, until}
//
// Returns message_id, of the row; content, said_at. Of a fact that can
// have many values at once, only those with the same value.
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  MATCH (item:Candidate)
    USING INDEX item:Candidate(tenant_id, persona_id, fact, said_at)
  WHERE
    item.tenant_id = $tenant_id AND
    item.persona_id = row.persona_id AND
    item.fact = row.fact AND
    row.since <= item.said_at <= row.until AND
    item.state <> 'removed'
  RETURN item
  UNION ALL
  MATCH (item:Memory)
    USING INDEX item:Memory(tenant_id, persona_id, fact, said_at)
  WHERE
    item.tenant_id = $tenant_id AND
    item.persona_id = row.persona_id AND
    item.fact = row.fact AND
    row.since <= item.said_at <= row.until
  RETURN item
}
WITH row, item
WHERE coalesce(item.fact_arity, '') <> 'many' OR item.fact_value = row.fact_value
RETURN row.message_id AS message_id, item.content AS content, item.said_at AS said_at
