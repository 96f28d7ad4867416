// Count the candidates that a night has left, by why.
//
// $tenant_id   string
// $persona_id  string
//
// Returns reason: `editable` (its window is still open), `suppressed` or `set_aside` (a night could make
// nothing of it); candidates.
CYPHER 25
MATCH (candidate:Candidate)
  USING INDEX SEEK candidate:Candidate(tenant_id, persona_id, state, said_at, id)
WHERE
  candidate.tenant_id = $tenant_id AND
  candidate.persona_id = $persona_id AND
  candidate.state IN ['pending', 'suppressed'] AND
  candidate.said_at IS NOT NULL AND
  candidate.id IS NOT NULL // an index is used only if the condition names all its properties
WITH
  CASE
    WHEN candidate.state = 'suppressed' THEN 'suppressed'
    WHEN candidate.set_aside_at IS NOT NULL THEN 'set_aside'
    ELSE 'editable'
  END AS reason,
  count(*) AS candidates
RETURN reason, candidates
ORDER BY reason
