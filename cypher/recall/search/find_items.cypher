// What a persona may mean by a question: what is nearest to it in meaning, what matches it in words,
// and where the links of the most promising of these lead: one step along any of them, two along what
// came before and after. Memories and today's candidates alike; what is left out is left out inside
// the index.
//
// $tenant_id   string
// $persona_id  string
// $embedding   vector
// $query       string, in Lucene's syntax, with the persona's search_scope in it
// $nearest     integer: how many by meaning
// $matching    integer: how many by words
// $scanned     integer: how many of a project, or under tags
// $by_meaning  float: how much nearness in meaning counts for being looked at closely
// $people      list of strings: whom it is about, if that is certain
// $limit       integer: how many of the most promising are told
// $sources     integer: how many of these have their links followed
// $linked      integer: of one memory's links that are no sequence, the strongest
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
// Returns found: a list of each property that a ranking needs, in the same order, the most promising
// first; times in microseconds, similarity its cosine, matched its score in full text, both 0 when it was
// not found so; and links: lists of the id a link starts from, the id it leads to, which may have been
// left out, its type, its strength, and that of a second one on the way or null, weight_modifier counted
// in. Lists, since a row or a map of each would cost more than the search.
CYPHER 25
CALL () {
  MATCH (it:Candidate|Memory)
    SEARCH it IN (
      VECTOR INDEX meaning
      FOR $embedding
      WHERE
        it.tenant_id = $tenant_id AND
        it.persona_id = $persona_id AND
        it.flagged = $flagged AND
        it.state IN $states AND
        it.memory_type IN $types AND
        it.said_at >= $from_at AND
        it.said_at <= $to_at
      LIMIT $nearest
    ) SCORE AS score
  RETURN it, 2 * score - 1 AS similarity, null AS matched
  UNION ALL
  CALL db.index.fulltext.queryNodes('words', $query, {limit: $matching}) YIELD node AS it, score
  RETURN it, null AS similarity, score AS matched
  UNION ALL
  // What a category, a project or tags select is looked at however far it is from the question.
  UNWIND CASE WHEN $categories IS NULL THEN [] ELSE [1] END AS once
  MATCH (it:Candidate|Memory)
    SEARCH it IN (
      VECTOR INDEX meaning
      FOR $embedding
      WHERE
        it.tenant_id = $tenant_id AND
        it.persona_id = $persona_id AND
        it.flagged = $flagged AND
        it.state IN $states AND
        it.memory_type IN $types AND
        it.said_at >= $from_at AND
        it.said_at <= $to_at AND
        it.category IN $categories
      LIMIT $nearest
    ) SCORE AS score
  RETURN it, 2 * score - 1 AS similarity, null AS matched
  UNION ALL
  WITH toFloatList($embedding) AS embedding
  MATCH (it:Memory {tenant_id: $tenant_id, persona_id: $persona_id, project: $project})
  WHERE it.flagged = $flagged AND it.state IN $states
  WITH it, embedding
  LIMIT $scanned
  RETURN
    it,
    2 * vector.similarity.cosine(it.embedding, embedding) - 1 AS similarity,
    null AS matched
  UNION ALL
  WITH
    toFloatList($embedding) AS embedding,
    CASE WHEN $tags IS NOT NULL AND $project IS NULL THEN true END AS tagged
  MATCH (it:Memory {tenant_id: $tenant_id, persona_id: $persona_id, tagged: tagged})
  WHERE
    it.flagged = $flagged AND
    it.state IN $states AND
    all(tag IN $tags WHERE tag IN it.tags)
  WITH it, embedding
  LIMIT $scanned
  RETURN
    it,
    2 * vector.similarity.cosine(it.embedding, embedding) - 1 AS similarity,
    null AS matched
}
WITH it, max(similarity) AS similarity, max(matched) AS matched
WHERE
  it.tenant_id = $tenant_id AND
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
WITH
  collect({it: it, similarity: similarity, matched: matched}) AS all,
  min(similarity) AS least,
  max(matched) AS best
UNWIND all AS one
WITH
  one.it AS it,
  one.similarity AS similarity,
  one.matched AS matched,
  $by_meaning * coalesce(one.similarity, least, 0.0) +
    0.4 * coalesce(one.matched / best, 0.0) +
    CASE WHEN one.it.about IN $people THEN 0.3 ELSE 0.0 END AS promise
ORDER BY promise DESC, it.id
LIMIT $limit
WITH collect({it: it, similarity: similarity, matched: matched}) AS found
WITH found, [one IN found | one.it] AS known
CALL (known) {
  UNWIND known[..$sources] AS source
  CALL (source) {
    MATCH (source)-[link:PRECEDES]-(it:Memory)
    RETURN it, 'PRECEDES' AS type, link.strength * link.weight_modifier AS strength, null AS further
    UNION ALL
    MATCH (source)-[link:PRECEDES]-(:Memory)-[second:PRECEDES]-(it:Memory)
    WHERE it <> source
    RETURN
      it,
      'PRECEDES' AS type,
      link.strength * link.weight_modifier AS strength,
      second.strength * second.weight_modifier AS further
    UNION ALL
    MATCH
      (source)-[link:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|CAUSALLY_LINKED]-(it:Memory)
    WITH it, type(link) AS type, link.strength * link.weight_modifier AS strength
    ORDER BY strength DESC, it.id
    LIMIT $linked
    RETURN it, type, strength, null AS further
  }
  RETURN
    collect({source: source, it: it, type: type, strength: strength, further: further}) AS links,
    collect(DISTINCT it) AS reached
}
CALL (known, reached) {
  UNWIND reached AS it
  WITH known, it
  WHERE
    NOT it IN known AND
    it.tenant_id = $tenant_id AND
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
  RETURN collect({it: it}) AS new
}
WITH links, found + new AS told, known + [one IN new | one.it] AS its
RETURN
  {
    id: [it IN its | it.id],
    memory_type: [it IN its | it.memory_type],
    state: [it IN its | it.state],
    flagged: [it IN its | it.flagged],
    text: [it IN its | it.text],
    about: [it IN its | it.about],
    category: [it IN its | it.category],
    conversation_id: [it IN its | it.conversation_id],
    source_id: [it IN its | it.source_id],
    packed_vectors: [it IN its | it.packed_vectors],
    token_estimate: [it IN its | it.token_estimate],
    importance: [it IN its | coalesce(it.importance, 5)],
    pinned: [it IN its | coalesce(it.pinned, false)],
    access_count: [it IN its | coalesce(it.access_count, 0)],
    weight_modifier: [it IN its | coalesce(it.weight_modifier, 1.0)],
    said_at: [it IN its | it.said_at.epochSeconds * 1000000 + it.said_at.microsecond],
    valid_from: [it IN its | it.valid_from.epochSeconds * 1000000 + it.valid_from.microsecond],
    valid_to: [it IN its | it.valid_to.epochSeconds * 1000000 + it.valid_to.microsecond],
    similarity: [one IN told | coalesce(one.similarity, 0.0)],
    matched: [one IN told | coalesce(one.matched, 0.0)]
  } AS found,
  {
    source_id: [link IN links | link.source.id],
    id: [link IN links | link.it.id],
    type: [link IN links | link.type],
    strength: [link IN links | link.strength],
    further: [link IN links | link.further]
  } AS links
