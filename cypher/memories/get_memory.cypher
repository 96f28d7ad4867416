// One memory, archived or not.
//
// $tenant_id  string
// $memory_id  string
//
// Returns memory; nothing when there is none.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
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
