// What a persona has lost: what faded into the archive and what was forgotten on request, the newest first.
//
// $tenant_id   string
// $persona_id  string
// $limit       integer, of each kind
//
// Returns how; at; text; memory; shape: the forgotten shape that is left of it, if there is one.
CYPHER 25
CALL () {
  MATCH (memory:Memory)
    USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, id)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.state = 'archived' AND
    memory.id IS NOT NULL // an index is used only if the condition names all its properties
  RETURN
    memory,
    CASE WHEN memory.flagged THEN 'forgotten on request, then archived' ELSE 'faded' END AS how,
    memory.archived_at AS at
  ORDER BY at DESC, memory.id
  LIMIT $limit
  UNION ALL
  MATCH (memory:Memory)
    USING INDEX SEEK memory:Memory(tenant_id, persona_id, state, id)
  WHERE
    memory.tenant_id = $tenant_id AND
    memory.persona_id = $persona_id AND
    memory.state = 'active' AND
    memory.id IS NOT NULL AND
    memory.flagged
  MATCH (memory)-[:DRAWN_FROM]->()<-[:FLAGS]-(flag)
  WHERE flag.reversed_at IS NULL
  WITH memory, max(flag.flagged_at) AS at
  RETURN memory, 'forgotten on request' AS how, at
  ORDER BY at DESC, memory.id
  LIMIT $limit
}
OPTIONAL MATCH (memory)--(shape:ForgottenShape)
RETURN how, at, memory.text AS text, memory, shape
ORDER BY at DESC, memory.id
