// Find what a persona may need for a question: the items nearest to it in meaning, and those that match it in
// words. Items are memories and today's candidates. Filters are applied inside the vector index.
//
// $tenant_id   string
// $persona_id  string
// $embedding   vector, of the question
// $query       string, in Lucene's syntax, with the persona's search_scope in it
// $nearest     integer: how many items by meaning
// $matching    integer: how many by words
// $scanned     integer: how many of a project, or with tags
// $by_meaning  float: weight of the similarity in the first rough score
// $people      list of strings: whom the question is about, if that is certain
// $limit       integer: how many items, by the rough score
// $states      list of strings
// $types       list of strings
// $flagged     boolean
// $from_at     zoned datetime
// $to_at       zoned datetime, itself included
// $as_of       zoned datetime: facts that ended by then are left out
// $periods     list of maps {start, end}: times that the question is about, and some days after
// $past_fact   string or null: the key of a fact whose history is asked for, so that what ended stays
// $standing    list of strings or null: categories of items that bear on whatever is asked
// $categories  list of strings or null
// $tags        list of strings or null: all of them
// $project     string or null
//
// Returns found: for each property that the ranking needs a list over all items, the highest rough score
// first; times in microseconds. Lists, since a row or a map for each item would cost more than the search.
// has_flagged: whether anything flagged could be found. Of most personas nothing, and a look costs little.
CYPHER 25
CALL () {
  MATCH (item:Candidate|Memory)
    SEARCH item IN (
      VECTOR INDEX meaning
      FOR $embedding
      WHERE
        item.tenant_id = $tenant_id AND
        item.persona_id = $persona_id AND
        item.flagged = $flagged AND
        item.state IN $states AND
        item.memory_type IN $types AND
        item.said_at >= $from_at AND
        item.said_at <= $to_at
      LIMIT $nearest
    ) SCORE AS score
  RETURN item, 2 * score - 1 AS similarity, null AS matched
  UNION ALL
  CALL db.index.fulltext.queryNodes('words', $query, {limit: $matching}) YIELD node AS item, score
  RETURN item, null AS similarity, score AS matched
  UNION ALL
  // What a category, a project or tags select is read however far it is from the question.
  UNWIND CASE WHEN $categories IS NULL THEN [] ELSE [1] END AS once
  MATCH (item:Candidate|Memory)
    SEARCH item IN (
      VECTOR INDEX meaning
      FOR $embedding
      WHERE
        item.tenant_id = $tenant_id AND
        item.persona_id = $persona_id AND
        item.flagged = $flagged AND
        item.state IN $states AND
        item.memory_type IN $types AND
        item.said_at >= $from_at AND
        item.said_at <= $to_at AND
        item.category IN $categories
      LIMIT $nearest
    ) SCORE AS score
  RETURN item, 2 * score - 1 AS similarity, null AS matched
  UNION ALL
  UNWIND CASE WHEN $standing IS NULL THEN [] ELSE [1] END AS once
  MATCH (item:Candidate|Memory)
    SEARCH item IN (
      VECTOR INDEX meaning
      FOR $embedding
      WHERE
        item.tenant_id = $tenant_id AND
        item.persona_id = $persona_id AND
        item.flagged = $flagged AND
        item.state IN $states AND
        item.memory_type IN $types AND
        item.said_at >= $from_at AND
        item.said_at <= $to_at AND
        item.category IN $standing
      LIMIT 20
    ) SCORE AS score
  RETURN item, 2 * score - 1 AS similarity, null AS matched
  UNION ALL
  // Shapes are compared among themselves: no memory may keep them out.
  MATCH (item:Candidate|Memory)
    SEARCH item IN (
      VECTOR INDEX meaning
      FOR $embedding
      WHERE
        item.tenant_id = $tenant_id AND
        item.persona_id = $persona_id AND
        item.flagged = $flagged AND
        item.state IN $states AND
        item.memory_type IN ['forgotten_shape'] AND
        item.said_at >= $from_at AND
        item.said_at <= $to_at
      LIMIT 10
    ) SCORE AS score
  RETURN item, 2 * score - 1 AS similarity, null AS matched
  UNION ALL
  // What was said in a time that is asked for counts however far it is from the question.
  UNWIND $periods AS period
  MATCH (item:Candidate|Memory)
    SEARCH item IN (
      VECTOR INDEX meaning
      FOR $embedding
      WHERE
        item.tenant_id = $tenant_id AND
        item.persona_id = $persona_id AND
        item.flagged = $flagged AND
        item.state IN $states AND
        item.memory_type IN $types AND
        item.said_at >= period.start AND
        item.said_at <= period.end
      LIMIT 40
    ) SCORE AS score
  RETURN item, 2 * score - 1 AS similarity, null AS matched
  UNION ALL
  WITH toFloatList($embedding) AS embedding
  MATCH (item:Memory {tenant_id: $tenant_id, persona_id: $persona_id, project: $project})
  WHERE item.flagged = $flagged AND item.state IN $states
  WITH item, embedding
  LIMIT $scanned
  RETURN
    item,
    2 * vector.similarity.cosine(item.embedding, embedding) - 1 AS similarity,
    null AS matched
  UNION ALL
  WITH
    toFloatList($embedding) AS embedding,
    CASE WHEN $tags IS NOT NULL AND $project IS NULL THEN true END AS tagged
  MATCH (item:Memory {tenant_id: $tenant_id, persona_id: $persona_id, tagged: tagged})
  WHERE
    item.flagged = $flagged AND
    item.state IN $states AND
    all(tag IN $tags WHERE tag IN item.tags)
  WITH item, embedding
  LIMIT $scanned
  RETURN
    item,
    2 * vector.similarity.cosine(item.embedding, embedding) - 1 AS similarity,
    null AS matched
}
WITH item, max(similarity) AS similarity, max(matched) AS matched
WHERE
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
WITH
  collect({item: item, similarity: similarity, matched: matched}) AS hits,
  min(similarity) AS least_similarity,
  max(matched) AS best_match
UNWIND hits AS hit
WITH
  hit.item AS item,
  hit.similarity AS similarity,
  hit.matched AS matched,
  $by_meaning * coalesce(hit.similarity, least_similarity, 0.0) +
    0.4 * coalesce(hit.matched / best_match, 0.0) +
    CASE WHEN hit.item.about IN $people THEN 0.4 ELSE 0.0 END +
    CASE
      WHEN any(period IN $periods WHERE period.start <= hit.item.said_at <= period.end) THEN 0.25
      ELSE 0.0
    END +
    CASE WHEN hit.item.category IN $standing THEN 0.5 ELSE 0.0 END +
    CASE WHEN hit.item.memory_type = 'forgotten_shape' THEN 0.5 ELSE 0.0 END AS rough_score
ORDER BY rough_score DESC, item.id
LIMIT $limit
WITH collect(item) AS items
CALL () {
  MATCH (item:Candidate|Memory)
    SEARCH item IN (
      VECTOR INDEX meaning
      FOR $embedding
      WHERE
        item.tenant_id = $tenant_id AND
        item.persona_id = $persona_id AND
        item.flagged = true AND
        item.state IN ['active', 'suppressed']
      LIMIT 1
    )
  RETURN count(item) > 0 AS has_flagged
}
RETURN
  has_flagged,
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
  } AS found
