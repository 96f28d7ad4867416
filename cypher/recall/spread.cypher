// Where the links of some memories lead: one step along any of them, two along what came before and
// after.
//
// $tenant_id   string
// $persona_id  string
// $source_ids  list of strings
// $known_ids   list of strings: of these nothing but the links is told
// $limit       integer, of one memory's links that are no sequence, the strongest first
// $states      list of strings
// $types       list of strings
// $flagged     boolean
// $from_at     zoned datetime
// $to_at       zoned datetime, itself included
// $as_of       zoned datetime: facts that were over by then are out
// $categories  list of strings or null
// $tags        list of strings or null: all of them
// $project     string or null
//
// Returns links {source_id, id, type, strengths: of each link on the way, its weight_modifier counted in;
// it: what a ranking needs to know, times in microseconds, or null when the id is known}.
CYPHER 25
UNWIND $source_ids AS source_id
MATCH (source:Memory {tenant_id: $tenant_id, id: source_id})
CALL (source) {
  MATCH (source)-[link:PRECEDES]-(it:Memory)
  RETURN it, 'PRECEDES' AS type, [link.strength * link.weight_modifier] AS strengths
  UNION ALL
  MATCH (source)-[link:PRECEDES]-(:Memory)-[further:PRECEDES]-(it:Memory)
  WHERE it <> source
  RETURN
    it,
    'PRECEDES' AS type,
    [link.strength * link.weight_modifier, further.strength * further.weight_modifier] AS strengths
  UNION ALL
  MATCH
    (source)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|CAUSALLY_LINKED]-(it:Memory)
  WITH it, type(link) AS type, link.strength * link.weight_modifier AS strength
  ORDER BY strength DESC, it.id
  LIMIT $limit
  RETURN it, type, [strength] AS strengths
}
WITH *
WHERE
  it.persona_id = $persona_id AND
  it.flagged = $flagged AND
  it.state IN $states AND
  it.memory_type IN $types AND
  it.said_at >= $from_at AND
  it.said_at <= $to_at AND
  (it.valid_to IS NULL OR it.valid_to > $as_of) AND
  ($categories IS NULL OR it.category IN $categories) AND
  ($tags IS NULL OR all(tag IN $tags WHERE tag IN coalesce(it.tags, []))) AND
  ($project IS NULL OR it.project = $project)
RETURN
  collect({
    source_id: source_id,
    id: it.id,
    type: type,
    strengths: strengths,
    it: CASE WHEN NOT it.id IN $known_ids THEN
    it {
      .id,
      .memory_type,
      .state,
      .flagged,
      .text,
      .about,
      .category,
      .conversation_id,
      .facets,
      .token_estimate,
      .importance,
      .pinned,
      .access_count,
      .weight_modifier,
      said_at: it.said_at.epochSeconds * 1000000 + it.said_at.microsecond,
      valid_from: it.valid_from.epochSeconds * 1000000 + it.valid_from.microsecond,
      valid_to: it.valid_to.epochSeconds * 1000000 + it.valid_to.microsecond
    }
    END
  }) AS links
