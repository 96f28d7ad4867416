// Read the links that go out from a page of the memories of a persona, to keep them in memory.
//
// $tenant_id   string
// $persona_id  string
// $state       string: active or archived
// $after       string: the last id of the page before, or an empty string
// $limit       integer: memories
//
// Returns links: lists of source_id, id, type and strength, times weight_modifier; last_id: of the page, null when
// there is no further one.
CYPHER 25
CALL () {
  MATCH (source:Memory)
    USING INDEX SEEK source:Memory(tenant_id, persona_id, state, id)
  WHERE
    source.tenant_id = $tenant_id AND
    source.persona_id = $persona_id AND
    source.state = $state AND
    source.id > $after
  WITH source
  // By all properties of the index, so that it is read in its order and only up to the limit.
  ORDER BY source.tenant_id, source.persona_id, source.state, source.id
  LIMIT $limit
  RETURN collect(source) AS sources
}
CALL (sources) {
  UNWIND sources AS source
  MATCH
    (source)
      // fragment: link_types
      -[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->
    (item:Memory)
  // Links of shapes are not followed.
  WHERE NOT source:ForgottenShape AND NOT item:ForgottenShape
  RETURN
    {
      source_id: collect(source.id),
      id: collect(item.id),
      type: collect(type(link)),
      strength: collect(link.strength * link.weight_modifier)
    } AS links
}
RETURN links, CASE WHEN size(sources) = $limit THEN last(sources).id END AS last_id
