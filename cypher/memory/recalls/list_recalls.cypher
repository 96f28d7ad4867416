// The recalls of a memory in the order in which they were recorded.
//
// $tenant_id  string
// $memory_id  string
// $user_id    string or null: with a user, only those that were recorded for them
// $after_at   zoned datetime: of the last recall of the page before, or before all of them
// $after_id   string: its id, or ''
// $limit      integer
//
// Returns recall.
CYPHER 25
MATCH (recall:Recall)
  USING INDEX SEEK recall:Recall(tenant_id, memory_id, recalled_at, id)
WHERE
  recall.tenant_id = $tenant_id AND
  recall.memory_id = $memory_id AND
  recall.recalled_at >= $after_at AND
  recall.id IS NOT NULL AND
  (recall.recalled_at > $after_at OR recall.id > $after_id) AND
  ($user_id IS NULL OR recall.by = $user_id)
WITH recall
// Ordered by all properties of the index, so that it is read in its order and only up to the limit.
ORDER BY recall.tenant_id, recall.memory_id, recall.recalled_at, recall.id
LIMIT $limit
RETURN
  recall {
    // fragment: recall_properties
    recall_id: recall.id,
    .memory_id,
    .persona_id,
    .response,
    .valence,
    .surfaced_by,
    .by,
    .recalled_at
    // end: recall_properties
  } AS recall
ORDER BY recall.recalled_at, recall.recall_id
