// The personas with a memory whose fading or pruning is due.
//
// $now    zoned datetime, the engine's
// $limit  integer
//
// Returns tenant_id, persona_id.
CYPHER 25
MATCH (persona:Persona)
WHERE
  EXISTS {
    MATCH (memory:Memory)
    WHERE
      memory.tenant_id = persona.tenant_id AND
      memory.persona_id = persona.id AND
      memory.fades_at <= $now
  } OR
  EXISTS {
    MATCH (memory:Memory)
    WHERE
      memory.tenant_id = persona.tenant_id AND
      memory.persona_id = persona.id AND
      memory.prune_at <= $now
  }
RETURN persona.tenant_id AS tenant_id, persona.id AS persona_id
LIMIT $limit
