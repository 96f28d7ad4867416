// Pin a memory, say how important it is, or file it. When it fades is reckoned anew by the next run.
//
// $tenant_id   string
// $memory_id   string
// $pinned      boolean or null: as it is
// $importance  integer or null: as it is
// $tags        list of strings or null: as they are
// $project     string or null: as it is; '' takes it out of its project
// $now         zoned datetime
//
// Returns id; nothing when there is none.
CYPHER 25
MATCH (memory:Memory {tenant_id: $tenant_id, id: $memory_id})
SET
  memory.pinned = coalesce($pinned, memory.pinned),
  memory.importance = coalesce($importance, memory.importance),
  memory.idle_importance = coalesce($importance, memory.idle_importance),
  memory.idle_since = CASE WHEN $importance IS NULL THEN memory.idle_since ELSE $now END,
  memory.fades_at = CASE WHEN memory.state = 'active' THEN $now END,
  memory.tags = coalesce($tags, memory.tags),
  memory.project =
    CASE $project
      WHEN null THEN memory.project
      WHEN '' THEN null
      ELSE $project
    END
RETURN memory.id AS id
