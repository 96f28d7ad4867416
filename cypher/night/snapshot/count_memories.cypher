// Count a persona's memories by state, type, importance, salience, pinned and minimized.
//
// $tenant_id   string
// $persona_id  string
//
// Returns state, memory_type, importance, tenth (of salience, 0 to 9), pinned, minimized: one group;
// memories: how many are in it.
CYPHER 25
// The index holds all that is needed, so no memory is read: that would take four times as long.
MATCH (memory:Memory)
  USING INDEX memory:Memory(
    tenant_id,
    persona_id,
    state,
    memory_type,
    importance,
    salience,
    pinned,
    minimized
  )
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.state IS NOT NULL AND
  memory.memory_type IS NOT NULL AND
  memory.importance IS NOT NULL AND
  memory.salience IS NOT NULL AND
  memory.pinned IS NOT NULL AND
  memory.minimized IS NOT NULL AND
  memory.salience IS :: FLOAT | INTEGER AND
  memory.importance IS :: INTEGER AND
  1 <= memory.importance <= 10 AND
  0 <= memory.salience <= 1
RETURN
  memory.state AS state,
  memory.memory_type AS memory_type,
  memory.importance AS importance,
  toInteger(memory.salience * 9.9999) AS tenth,
  memory.pinned AS pinned,
  memory.minimized AS minimized,
  count(*) AS memories
