// Remove the note on candidates that a night has passed over them.
//
// $tenant_id  string
// $ids        list of strings
//
// Returns id of each whose state has changed.
CYPHER 25
UNWIND $ids AS id
MATCH (candidate:Candidate {tenant_id: $tenant_id, id: id})
WITH candidate, candidate.state = 'passed_over' AS waits_again
REMOVE candidate.passed_over_at
// Its flag may have been taken back since: it then waited to be restored, which is not needed now.
SET candidate.state = CASE WHEN waits_again THEN 'pending' ELSE candidate.state END
WITH candidate, waits_again
WHERE waits_again
RETURN candidate.id AS id
