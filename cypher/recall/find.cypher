// What a persona may mean by a question: what is nearest to it in meaning, and what matches it in
// words. Memories and today's candidates alike; what is left out is left out inside the index.
//
// $tenant_id   string
// $persona_id  string
// $embedding   vector
// $query       string, in Lucene's syntax, with the persona's shelf in it
// $reach       integer, of each way of finding
// $people      list of strings: whom it is about, if that is certain
// $limit       integer: how many of the most promising are told
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
// Returns found: what a ranking needs to know of each, its cosine as similarity, and as matched its score
// in full text; times in microseconds. One row, since each more costs as much as ten finds in it.
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
      LIMIT $reach
    ) SCORE AS score
  RETURN it, 2 * score - 1 AS similarity, null AS matched
  UNION ALL
  CALL db.index.fulltext.queryNodes('words', $query, {limit: $reach}) YIELD node AS it, score
  RETURN it, null AS similarity, score AS matched
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
  0.8 * coalesce(one.similarity, least, 0.0) +
    0.2 * coalesce(one.matched / best, 0.0) +
    CASE WHEN one.it.about IN $people THEN 0.5 ELSE 0.0 END AS promise
ORDER BY promise DESC, it.id
LIMIT $limit
RETURN
  collect(
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
      valid_to: it.valid_to.epochSeconds * 1000000 + it.valid_to.microsecond,
      similarity: similarity,
      matched: matched
    }
  ) AS found
