// The steps of a run, in the order they were done.
//
// $tenant_id  string
// $run_id     string
// $after      integer, the place of the last step of the previous page, or 0
// $limit      integer
//
// Returns step.
CYPHER 25
MATCH (step:Step)
WHERE step.tenant_id = $tenant_id AND step.run_id = $run_id AND step.place > $after
RETURN step {.*} AS step
ORDER BY step.place
LIMIT $limit
