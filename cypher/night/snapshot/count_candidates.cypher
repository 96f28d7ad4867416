// Count a persona's candidates by state and type.
//
// $tenant_id   string
// $persona_id  string
//
// Returns state, memory_type, candidates.
CYPHER 25
MATCH (candidate:Candidate)
  USING INDEX SEEK candidate:Candidate(tenant_id, persona_id, state, id)
WHERE
  candidate.tenant_id = $tenant_id AND
  candidate.persona_id = $persona_id AND
  candidate.state IS NOT NULL AND
  candidate.id IS NOT NULL // an index is used only if the condition names all its properties
RETURN
  candidate.state AS state,
  candidate.memory_type AS memory_type,
  count(*) AS candidates
ORDER BY state, memory_type
