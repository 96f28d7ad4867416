// Remove the note on candidates that a night has passed over them.
//
// $tenant_id  string
// $ids        list of strings
CYPHER 25
UNWIND $ids AS id
MATCH (candidate:Candidate {tenant_id: $tenant_id, id: id})
REMOVE candidate.passed_over_at
// Its flag may have been taken back since: it then waited to be restored, which is not needed now.
SET candidate.state = CASE candidate.state WHEN 'passed_over' THEN 'pending' ELSE candidate.state END
