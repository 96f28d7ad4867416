// The memories of a persona that its copy does not have yet.
//
// $tenant_id   string
// $persona_id  string
// $copy_id     string
//
// Returns id, in order.
CYPHER 25
MATCH (memory:Memory)
  USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, id)
WHERE
  memory.tenant_id = $tenant_id AND
  memory.persona_id = $persona_id AND
  memory.state IS NOT NULL AND
  memory.id IS NOT NULL AND // an index is used only if the condition names all its properties
  NOT EXISTS {
    MATCH (copied:Memory)
      USING INDEX SEEK copied:Memory(tenant_id, persona_id, copied_from)
    WHERE
      copied.tenant_id = $tenant_id AND
      copied.persona_id = $copy_id AND
      copied.copied_from = memory.id
  }
RETURN memory.id AS id
ORDER BY id
