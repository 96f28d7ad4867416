// The memories of a persona that links go out from.
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
  EXISTS {
    // fragment: link_types
    (memory)-[:RELATED|ENABLES|VALIDATES|CONTRADICTS|EXTENDS|PRECEDES|CAUSALLY_LINKED]->()
  }
RETURN memory.id AS id
ORDER BY id
