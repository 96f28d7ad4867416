// The memories of a persona that a shape speaks of, and its shapes.
//
// $tenant_id   string
// $persona_id  string
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
  (EXISTS { (memory)-[:SHAPED_INTO]->() } OR EXISTS { (memory)-[:FELT_AS]->() })
RETURN memory.id AS id
ORDER BY id
