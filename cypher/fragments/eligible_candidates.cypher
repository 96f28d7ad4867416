// The pending candidates of a persona that were drawn early enough for this night, in the order they were
// said.

MATCH (candidate:Candidate)
  USING INDEX SEEK candidate:Candidate(tenant_id, persona_id, state, said_at, id)
WHERE
  candidate.tenant_id = $tenant_id AND
  candidate.persona_id = $persona_id AND
  candidate.state = 'pending' AND
  candidate.said_at IS NOT NULL AND
  candidate.id IS NOT NULL AND // an index is used only if the condition names all its properties
  candidate.extracted_at <= $drawn_before AND
  candidate.set_aside_at IS NULL
WITH candidate
// Ordered by all properties of the index, so that it is read in its order and only up to the limit.
ORDER BY
  candidate.tenant_id,
  candidate.persona_id,
  candidate.state,
  candidate.said_at,
  candidate.id
