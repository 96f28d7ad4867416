// A persona's memories, counted: per state and type, by importance, by salience, and how they feel.
//
// $tenant_id   string
// $persona_id  string
//
// Returns state, memory_type, importance, tenth (of salience, 0 to 9): one group; memories, pinned,
// minimized, felt: how many; valence, arousal: sums over those that were felt.
CYPHER 25
MATCH (it:Memory)
WHERE
  it.tenant_id = $tenant_id AND
  it.persona_id = $persona_id AND
  it.state IS NOT NULL AND
  it.id IS NOT NULL // an index is used only when all it covers is asked for
// All that is read of a memory in one go: property by property takes twice as long.
WITH
  it {
    .state,
    .memory_type,
    .importance,
    .salience,
    .pinned,
    .minimized,
    .valence,
    .arousal
  } AS memory
WITH
  memory.state AS state,
  memory.memory_type AS memory_type,
  memory.importance AS importance,
  toInteger(memory.salience * 9.9999) AS tenth,
  count(*) AS memories,
  sum(CASE WHEN memory.pinned THEN 1 ELSE 0 END) AS pinned,
  sum(CASE WHEN memory.minimized THEN 1 ELSE 0 END) AS minimized,
  sum(memory.valence) AS valence,
  sum(memory.arousal) AS arousal,
  count(memory.valence) AS felt
RETURN state, memory_type, importance, tenth, memories, pinned, minimized, valence, arousal, felt
