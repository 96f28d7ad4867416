// A persona's memories of some facts.
//
// $tenant_id   string
// $persona_id  string
// $facts       list of strings
//
// Returns memory, in no order.
CYPHER 25
UNWIND $facts AS fact
MATCH (memory:Memory)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.fact = fact
RETURN memory {.id, .content, .fact, .said_at, .state, .flagged} AS memory
