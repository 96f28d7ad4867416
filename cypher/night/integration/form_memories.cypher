// Turn candidates into memories: the same nodes, with another label.
//
// $tenant_id   string
// $persona_id  string
// $rows        list of maps {id, label, fades_at}
// $as_of       zoned datetime
// $awaits      string, the stage the new memories wait for
//
// Returns id, text, memory_type of each that became one; one that is not pending any more did not.
CYPHER 25
UNWIND $rows AS row
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
  -[considers:CONSIDERS]->(memory:Candidate {tenant_id: $tenant_id, id: row.id})
SET memory.lock = true
REMOVE memory.lock
WITH persona, considers, memory, row
WHERE memory.state = 'pending'
DELETE considers
CREATE (persona)-[:REMEMBERS]->(memory)
REMOVE memory:Candidate
SET
  memory:Memory,
  memory:$(row.label),
  memory.state = 'active',
  memory.formed_at = $as_of,
  memory.importance = 5,
  memory.idle_importance = 5,
  memory.idle_since = $as_of,
  memory.fades_at = row.fades_at,
  memory.salience = 0.5,
  memory.salience_at = $as_of,
  memory.uses_today = 0,
  memory.access_count = 0,
  memory.reinforcements = 0,
  memory.weight_modifier = 1.0,
  memory.pinned = false,
  memory.awaits = $awaits,
  memory.valid_from = CASE memory.memory_type WHEN 'semantic' THEN memory.said_at END
RETURN memory.id AS id, memory.text AS text, memory.memory_type AS memory_type
