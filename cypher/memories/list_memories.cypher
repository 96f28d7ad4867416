// A persona's memories by id, of one state.
//
// $tenant_id    string
// $persona_id   string
// $state        string
// $memory_type  string or null: of this type only
// $category     string or null: of this category only
// $held_at      zoned datetime or null: only what held then
// $after        string, the last id of the page before, or ''
// $limit        integer
//
// Returns memory.
CYPHER 25
MATCH (memory:Memory)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.state = $state AND
  memory.id > $after AND
  ($memory_type IS NULL OR memory.memory_type = $memory_type) AND
  ($category IS NULL OR memory.category = $category) AND
  ($held_at IS NULL OR
    (memory.valid_from <= $held_at AND (memory.valid_to IS NULL OR memory.valid_to > $held_at)))
WITH memory
ORDER BY memory.id
LIMIT $limit
RETURN
  memory {
    .id,
    .persona_id,
    .memory_type,
    .text,
    .content,
    .category,
    .project,
    .state,
    .importance,
    .salience,
    .salience_at,
    .weight_modifier,
    .pinned,
    .access_count,
    .accessed_at,
    .reinforcements,
    .said_at,
    .formed_at,
    .archived_at,
    .valid_from,
    .valid_to,
    tags: coalesce(memory.tags, []),
    distilled: memory.distilled_at IS NOT NULL,
    sources:
      COLLECT {
        MATCH (memory)-[:DRAWN_FROM]->(message)
        RETURN message.id
        ORDER BY message.said_at, message.id
      }
  } AS memory
ORDER BY memory.id
