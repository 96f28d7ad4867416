// Record on suppressed candidates that their night has passed over them.
//
// $tenant_id     string
// $persona_id    string
// $drawn_before  zoned datetime
// $as_of         zoned datetime
// $limit         integer
//
// Returns id.
CYPHER 25
MATCH (candidate:Candidate)
  USING INDEX SEEK candidate:Candidate(tenant_id, persona_id, state, said_at, id)
WHERE
  candidate.tenant_id = $tenant_id AND
  candidate.persona_id = $persona_id AND
  candidate.state = 'suppressed' AND
  candidate.said_at IS NOT NULL AND
  candidate.id IS NOT NULL AND // an index is used only if the condition names all its properties
  candidate.extracted_at <= $drawn_before AND
  candidate.passed_over_at IS NULL
WITH candidate
ORDER BY candidate.said_at, candidate.id
LIMIT $limit
SET candidate.passed_over_at = $as_of
RETURN candidate.id AS id
