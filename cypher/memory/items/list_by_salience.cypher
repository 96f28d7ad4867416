// The next memories of some personas by salience, the highest first.
//
// $tenant_id      string
// $persona_ids    list of strings
// $memory_states  list of strings
// $after_value    number: of the last item that was read before
// $after_id       string: of the same
// $limit          integer
//
// Returns id, key: its salience.
//
// Ordered by all properties of the index, so that it is read in its order and only up to the limit.
CYPHER 25
UNWIND $persona_ids AS persona_id
UNWIND $memory_states AS state
CALL (persona_id, state) {
    // Many have the same value: they are a seek of their own, or each page would read all of them.
    MATCH (memory:Memory)
      USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, salience, id)
    WHERE
      memory.tenant_id = $tenant_id AND
      memory.persona_id = persona_id AND
      memory.state = state AND
      memory.salience = $after_value AND
      memory.id < $after_id
    RETURN memory
    ORDER BY
      memory.tenant_id DESC,
      memory.persona_id DESC,
      memory.state DESC,
      memory.salience DESC,
      memory.id DESC
    LIMIT $limit
  UNION ALL
    // Then those with a lower value.
    MATCH (memory:Memory)
      USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, salience, id)
    WHERE
      memory.tenant_id = $tenant_id AND
      memory.persona_id = persona_id AND
      memory.state = state AND
      memory.salience < $after_value AND
      memory.id IS NOT NULL
    RETURN memory
    ORDER BY
      memory.tenant_id DESC,
      memory.persona_id DESC,
      memory.state DESC,
      memory.salience DESC,
      memory.id DESC
    LIMIT $limit
}
RETURN memory.id AS id, memory.salience AS key
ORDER BY key DESC, id DESC
LIMIT $limit
