// Follow the links of the best items of a search, one step along any link and two along PRECEDES, and read the
// items they lead to that the search has not found. Links of shapes are not followed: one stands beside many
// memories that have nothing to do with each other.
//
// $tenant_id   string
// $persona_id  string
// $source_ids  list of strings: the best items
// $known_ids   list of strings: what was found already
// $linked      integer: how many of one item's links are followed, the strongest, PRECEDES not counted
// $states      list of strings
// $types       list of strings
// $flagged     boolean
// $from_at     zoned datetime
// $to_at       zoned datetime, itself included
// $as_of       zoned datetime: facts that ended by then are left out
// $past_fact   string or null: the key of a fact whose history is asked for, so that what ended stays
// $categories  list of strings or null
// $tags        list of strings or null: all of them
// $project     string or null
//
// Returns found: for each property that the ranking needs a list over the items that were not known; times in
// microseconds. links: lists of source_id, id (of an item that may have been filtered out), type, strength, and
// further: the strength of a second link on the way, or null; both times weight_modifier.
CYPHER 25
CALL () {
  MATCH (source:Memory)
  WHERE
    source.tenant_id = $tenant_id AND
    source.id IN $source_ids AND
    source.persona_id = $persona_id AND
    NOT source:ForgottenShape
  CALL (source) {
    MATCH (source)-[link:PRECEDES]-(item:Memory)
    WHERE NOT item:ForgottenShape
    RETURN item, 'PRECEDES' AS type, link.strength * link.weight_modifier AS strength, null AS further
    UNION ALL
    MATCH (source)-[link:PRECEDES]-(between:Memory)-[second:PRECEDES]-(item:Memory)
    WHERE item <> source AND NOT between:ForgottenShape AND NOT item:ForgottenShape
    RETURN
      item,
      'PRECEDES' AS type,
      link.strength * link.weight_modifier AS strength,
      second.strength * second.weight_modifier AS further
    UNION ALL
    MATCH
      // fragment: link_types_without_order
      (source)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|CAUSALLY_LINKED]-(item:Memory)
    WHERE NOT item:ForgottenShape
    WITH item, type(link) AS type, link.strength * link.weight_modifier AS strength
    ORDER BY strength DESC, item.id
    LIMIT $linked
    RETURN item, type, strength, null AS further
  }
  RETURN
    collect({source: source, item: item, type: type, strength: strength, further: further}) AS links,
    collect(DISTINCT item) AS reached
}
CALL (reached) {
  UNWIND reached AS item
  WITH item
  WHERE
    NOT item.id IN $known_ids AND
    // fragment: recallable_item
    item.tenant_id = $tenant_id AND
    item.persona_id = $persona_id AND
    item.flagged = $flagged AND
    item.state IN $states AND
    item.memory_type IN $types AND
    item.said_at >= $from_at AND
    item.said_at <= $to_at AND
    (item.valid_to IS NULL OR item.valid_to > $as_of OR item.fact = $past_fact) AND
    ($categories IS NULL OR item.category IN $categories) AND
    ($tags IS NULL OR all(tag IN $tags WHERE tag IN coalesce(item.tags, []))) AND
    ($project IS NULL OR item.project = $project)
    // end: recallable_item
  RETURN collect(item) AS items
}
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
  } AS found,
  {
    source_id: [link IN links | link.source.id],
    id: [link IN links | link.item.id],
    type: [link IN links | link.type],
    strength: [link IN links | link.strength],
    further: [link IN links | link.further]
  } AS links
