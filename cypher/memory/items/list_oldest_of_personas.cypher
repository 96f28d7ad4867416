// The next items of some personas by when they were said, the oldest first.
//
// $tenant_id         string
// $persona_ids       list of strings
// $memory_states     list of strings
// $candidate_states  list of strings
// $after_time        zoned datetime: of the last item that was read before
// $after_id          string: of the same
// $limit             integer
//
// Returns id, key: when it was said.
CYPHER 25
CALL () {
  UNWIND $persona_ids AS persona_id
  UNWIND $memory_states AS state
  CALL (persona_id, state) {
    MATCH (item:Memory)
      USING INDEX SEEK item:Memory(tenant_id, persona_id, state, said_at)
    WHERE
      item.tenant_id = $tenant_id AND
      item.persona_id = persona_id AND
      item.state = state AND
      item.said_at >= $after_time AND
      item.id IS NOT NULL AND
      // Not an OR, which would be looked up in two indexes.
      CASE WHEN item.said_at = $after_time THEN item.id > $after_id ELSE true END
    RETURN item
    // Ordered by all properties of the index, so that it is read in its order and only up to the limit.
    ORDER BY
      item.tenant_id,
      item.persona_id,
      item.state,
      item.said_at,
      item.id
    LIMIT $limit
  }
  RETURN item
  UNION ALL
  UNWIND $persona_ids AS persona_id
  UNWIND $candidate_states AS state
  CALL (persona_id, state) {
    MATCH (item:Candidate)
      USING INDEX SEEK item:Candidate(tenant_id, persona_id, state, said_at, id)
    WHERE
      item.tenant_id = $tenant_id AND
      item.persona_id = persona_id AND
      item.state = state AND
      item.said_at >= $after_time AND
      item.id IS NOT NULL AND
      // Not an OR, which would be looked up in two indexes.
      CASE WHEN item.said_at = $after_time THEN item.id > $after_id ELSE true END
    RETURN item
    // Ordered by all properties of the index, so that it is read in its order and only up to the limit.
    ORDER BY
      item.tenant_id,
      item.persona_id,
      item.state,
      item.said_at,
      item.id
    LIMIT $limit
  }
  RETURN item
}
RETURN item.id AS id, item.said_at AS key
ORDER BY key, id
LIMIT $limit
