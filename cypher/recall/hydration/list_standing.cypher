// What a user wants of every answer, and what people prefer, as far as it holds now.
//
// $tenant_id   string
// $persona_id  string
// $now         zoned datetime: what ended by then is left out
// $standing    integer: how many
//
// Returns memory: instructions before preferences, the newest first.
CYPHER 25
// fragment: standing_items
UNWIND ['instruction', 'preference'] AS category
CALL (category) {
  MATCH (item:Memory)
    USING INDEX SEEK item:Memory(tenant_id, persona_id, category, state, said_at)
  WHERE
    item.tenant_id = $tenant_id AND
    item.persona_id = $persona_id AND
    item.category = category AND
    item.state = 'active' AND
    item.said_at <= $now AND
    item.flagged = false AND
    (item.valid_to IS NULL OR item.valid_to > $now)
  RETURN item
  // Ordered by all properties of the index, so that it is read in its order and only up to the limit.
  ORDER BY
    item.tenant_id DESC,
    item.persona_id DESC,
    item.category DESC,
    item.state DESC,
    item.said_at DESC
  LIMIT $standing
  UNION ALL
  MATCH (item:Candidate)
    USING INDEX SEEK item:Candidate(tenant_id, persona_id, category, state, said_at)
  WHERE
    item.tenant_id = $tenant_id AND
    item.persona_id = $persona_id AND
    item.category = category AND
    item.state = 'pending' AND
    item.said_at <= $now AND
    item.flagged = false
  RETURN item
  ORDER BY
    item.tenant_id DESC,
    item.persona_id DESC,
    item.category DESC,
    item.state DESC,
    item.said_at DESC
  LIMIT $standing
}
// The night closes what a candidate contradicts; until then it is left out here.
WITH category, item
WHERE
  item.fact IS NULL OR
  NOT EXISTS {
    MATCH (later:Candidate)
      USING INDEX later:Candidate(tenant_id, persona_id, fact, said_at)
    WHERE
      later.tenant_id = $tenant_id AND
      later.persona_id = $persona_id AND
      later.fact = item.fact AND
      later.said_at > item.said_at AND
      later.said_at <= $now AND
      later.state = 'pending' AND
      NOT later.flagged AND
      CASE
        WHEN later.fact_value = item.fact_value THEN later.fact_stance <> item.fact_stance
        ELSE later.fact_arity = 'single' AND later.fact_stance AND item.fact_stance
      END
  }
ORDER BY category, item.said_at DESC, item.id
LIMIT $standing
// end: standing_items
RETURN item {.id, .text, .token_estimate, .said_at, .passage, .shape_memories} AS memory
ORDER BY category, item.said_at DESC, item.id
