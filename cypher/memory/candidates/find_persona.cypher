// The persona of a candidate, or of the memory that it has become.
//
// $tenant_id     string
// $candidate_id  string
//
// Returns persona_id; nothing when there is none.
CYPHER 25
MATCH (candidate:Candidate|Memory {tenant_id: $tenant_id, id: $candidate_id})
RETURN candidate.persona_id AS persona_id
