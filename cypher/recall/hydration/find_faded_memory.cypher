// An archived memory that faded by itself, or a shape of what did: one of the twenty from a point in time on, or else
// of the first twenty of all. What somebody archived, minimized or flagged is not returned.
//
// $tenant_id   string
// $persona_id  string
// $at_share    number from 0 to 1: the point in time, between the first and the last that is archived
// $of_share    number from 0 to 1: which of the twenty
//
// Returns memory; nothing when none has faded.
CYPHER 25
CALL () {
  MATCH (memory:Memory)
    USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, said_at)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.state = 'archived' AND
    memory.said_at IS NOT NULL // an index is used only if the condition names all its properties
  RETURN memory.said_at AS first_at
  ORDER BY memory.tenant_id, memory.persona_id, memory.state, memory.said_at
  LIMIT 1
}
CALL () {
  MATCH (memory:Memory)
    USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, said_at)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.state = 'archived' AND
    memory.said_at IS NOT NULL
  RETURN memory.said_at AS last_at
  ORDER BY
    memory.tenant_id DESC,
    memory.persona_id DESC,
    memory.state DESC,
    memory.said_at DESC
  LIMIT 1
}
WITH
  first_at,
  first_at +
    duration({
      milliseconds: toInteger($at_share * (last_at.epochMillis - first_at.epochMillis))
    }) AS from_at
UNWIND [from_at, first_at] AS start_at
CALL (start_at) {
  MATCH (memory:Memory)
    USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, said_at)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.state = 'archived' AND
    memory.said_at >= start_at AND
    memory.flagged = false AND
    memory.minimized = false AND
    NOT EXISTS { (memory)<-[:ABOUT]-(:Event {action: 'archived'}) }
  WITH memory
  ORDER BY memory.tenant_id, memory.persona_id, memory.state, memory.said_at
  LIMIT 20
  WITH memory
  ORDER BY memory.said_at, memory.id
  RETURN collect(memory) AS memories
}
WITH memories
WHERE memories <> []
LIMIT 1
WITH memories[toInteger($of_share * (size(memories) - 0.0001))] AS memory
RETURN memory {.id, .text, .token_estimate, .said_at, .passage, .shape_memories} AS memory
