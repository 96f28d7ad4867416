// Count a persona's memories by what decides whether they are lost: those that are archived or active. What is flagged
// is counted nowhere, shapes neither.
//
// $tenant_id   string
// $persona_id  string
//
// Returns state, memory_type, category, tone (positive, negative, neutral, or null without a feeling), month (of those
// that are archived: when it was said, such as 2026-05): one group; memories: how many are in it.
CYPHER 25
MATCH (memory:Memory)
  USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, id)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.state IN ['active', 'archived'] AND
  memory.id IS NOT NULL AND // an index is used only if the condition names all its properties
  NOT memory.flagged AND
  memory.memory_type <> 'forgotten_shape'
RETURN
  memory.state AS state,
  memory.memory_type AS memory_type,
  memory.category AS category,
  CASE
    WHEN memory.valence IS NULL THEN null
    WHEN memory.valence > 0 THEN 'positive'
    WHEN memory.valence < 0 THEN 'negative'
    ELSE 'neutral'
  END AS tone,
  CASE WHEN memory.state = 'archived'
    THEN left(toString(date(memory.said_at)), 7)
  END AS month,
  count(*) AS memories
