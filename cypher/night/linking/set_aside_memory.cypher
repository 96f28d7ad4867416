// Set aside the next memory that waits for a stage: it stays, and the stage leaves it out.
//
// $tenant_id   string
// $persona_id  string
// $awaits      string, the stage
// $as_of       zoned datetime
// $why         string
//
// Returns id, awaits; nothing when there is none.
CYPHER 25
MATCH (memory:Memory)
  USING INDEX SEEK memory:Memory(tenant_id, persona_id, awaits, said_at, id)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.awaits = $awaits AND
  memory.said_at IS NOT NULL AND
  memory.id IS NOT NULL // an index is used only if the condition names all its properties
WITH memory
// Ordered by all properties of the index, so that it is read in its order and only up to the limit.
ORDER BY memory.tenant_id, memory.persona_id, memory.awaits, memory.said_at, memory.id
LIMIT 1
SET
  memory.set_aside_at = $as_of,
  memory.set_aside_why = $why
REMOVE memory.awaits
RETURN memory.id AS id, $awaits AS awaits
