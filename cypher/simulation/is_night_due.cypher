// Whether a night would find anything to do for a persona. It looks where the stages of a night look.
//
// $tenant_id     string
// $persona_id    string
// $as_of         zoned datetime: when the night would be
// $drawn_before  zoned datetime: the editing window of what was drawn later is still open
//
// Returns is_due.
CYPHER 25
MATCH (persona:Persona {tenant_id: $tenant_id, id: $persona_id})
RETURN
  coalesce(persona.policy_version, 0) <> coalesce(persona.rescheduled_version, 0) OR
  EXISTS {
    MATCH (candidate:Candidate)
    WHERE
      candidate.tenant_id = $tenant_id AND
      candidate.persona_id = $persona_id AND
      candidate.state = 'pending' AND
      candidate.said_at IS NOT NULL AND
      candidate.id IS NOT NULL AND // an index is used only if the condition names all its properties
      candidate.extracted_at <= $drawn_before AND
      candidate.set_aside_at IS NULL
  } OR
  EXISTS {
    MATCH (candidate:Candidate)
    WHERE
      candidate.tenant_id = $tenant_id AND
      candidate.persona_id = $persona_id AND
      candidate.state = 'suppressed' AND
      candidate.said_at IS NOT NULL AND
      candidate.id IS NOT NULL AND
      candidate.extracted_at <= $drawn_before AND
      candidate.passed_over_at IS NULL
  } OR
  EXISTS {
    MATCH (memory:Memory)
    WHERE
      memory.tenant_id = $tenant_id AND
      memory.persona_id = $persona_id AND
      memory.awaits IS NOT NULL AND
      memory.said_at IS NOT NULL AND
      memory.id IS NOT NULL
  } OR
  EXISTS {
    MATCH (memory:Memory)
    WHERE
      memory.tenant_id = $tenant_id AND
      memory.persona_id = $persona_id AND
      memory.stirred_at IS NOT NULL
  } OR
  EXISTS {
    MATCH (memory:Memory)
    WHERE
      memory.tenant_id = $tenant_id AND
      memory.persona_id = $persona_id AND
      memory.prune_at <= $as_of
  } OR
  EXISTS {
    MATCH (memory:Memory)
    WHERE
      memory.tenant_id = $tenant_id AND
      memory.persona_id = $persona_id AND
      memory.fades_at <= $as_of
  } OR
  EXISTS {
    MATCH (memory:Memory)
    WHERE
      memory.tenant_id = $tenant_id AND
      memory.persona_id = $persona_id AND
      memory.state = 'archived' AND
      memory.id IS NOT NULL AND
      NOT memory.flagged AND
      memory.memory_type <> 'forgotten_shape' AND
      NOT EXISTS { (memory)-[:SHAPED_INTO]->() }
  } OR
  EXISTS {
    MATCH (shape:Memory)
    WHERE
      shape.tenant_id = $tenant_id AND
      shape.persona_id = $persona_id AND
      shape.state = 'withdrawn' AND
      shape.id IS NOT NULL AND
      EXISTS { (:Memory {state: 'archived', flagged: false})-[:SHAPED_INTO]->(shape) }
  } OR
  EXISTS {
    MATCH (message:Message)
    WHERE
      message.uncovered_since <= $as_of AND
      message.tenant_id = $tenant_id AND
      message.persona_id = $persona_id
  } AS is_due
