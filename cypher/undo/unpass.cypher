// Candidates that were passed over have not been.
//
// $tenant_id  string
// $ids        list of strings
CYPHER 25
UNWIND $ids AS id
MATCH (candidate:Candidate {tenant_id: $tenant_id, id: id})
REMOVE candidate.passed_over_at
