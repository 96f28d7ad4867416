// Read a page of the items of a persona, to keep them in memory.
//
// $tenant_id   string
// $persona_id  string
// $state       string: active, pending or suppressed
// $after       string: the last id of the page before, or an empty string
// $limit       integer
//
// Returns items: for each property that ranking needs a list over the items, in the order of their ids; times in
// microseconds.
CYPHER 25
CALL () {
  MATCH (item:Memory)
    USING INDEX SEEK item:Memory(tenant_id, persona_id, state, id)
  WHERE
    item.tenant_id = $tenant_id AND
    item.persona_id = $persona_id AND
    item.state = $state AND
    item.id > $after
  WITH item
  // By all properties of the index, so that it is read in its order and only up to the limit.
  ORDER BY item.tenant_id, item.persona_id, item.state, item.id
  LIMIT $limit
  RETURN item
  UNION ALL
  MATCH (item:Candidate)
    USING INDEX SEEK item:Candidate(tenant_id, persona_id, state, id)
  WHERE
    item.tenant_id = $tenant_id AND
    item.persona_id = $persona_id AND
    item.state = $state AND
    item.id > $after
  WITH item
  // By all properties of the index, so that it is read in its order and only up to the limit.
  ORDER BY item.tenant_id, item.persona_id, item.state, item.id
  LIMIT $limit
  RETURN item
}
WITH item
ORDER BY item.id
LIMIT $limit
WITH collect(item) AS items
RETURN
  {
    // fragment: item_states
    id: [item IN items | item.id],
    memory_type: [item IN items | item.memory_type],
    state: [item IN items | item.state],
    flagged: [item IN items | item.flagged],
    about: [item IN items | item.about],
    category: [item IN items | item.category],
    fact: [item IN items | item.fact],
    tags: [item IN items | item.tags],
    project: [item IN items | item.project],
    importance: [item IN items | coalesce(item.importance, 5)],
    pinned: [item IN items | coalesce(item.pinned, false)],
    access_count: [item IN items | coalesce(item.access_count, 0)],
    weight_modifier: [item IN items | coalesce(item.weight_modifier, 1.0)],
    valid_from: [item IN items | item.valid_from.epochSeconds * 1000000 + item.valid_from.microsecond],
    valid_to: [item IN items | item.valid_to.epochSeconds * 1000000 + item.valid_to.microsecond],
    said_at: [item IN items | item.said_at.epochSeconds * 1000000 + item.said_at.microsecond],
    conversation_id: [item IN items | item.conversation_id],
    source_id: [item IN items | item.source_id],
    token_estimate: [item IN items | item.token_estimate],
    passage: [item IN items | item.passage],
    shape_memories: [item IN items | item.shape_memories],
    // end: item_states
    text: [item IN items | item.text],
    packed_vectors: [item IN items | item.packed_vectors]
  } AS items
